// Dropout of attention weights by 2, 3 and 4 ranks against one process with the joined batches.
#include <boost/test/unit_test.hpp>

#include "training/ranks/rank_modules.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

enum class Way { fused, masked, decomposed, more_axes };

// Attention of 4 positions with 2 heads, or of 2 and 2.
template <Way way>
class DroppedAttention : public Module {
 public:
  DroppedAttention() : Module("DroppedAttention") {}

  Value call(const Value& x) override {
    const Value h = first_(x);
    if constexpr (way == Way::masked) {
      const Value heads = reshape(h, {-1, 4, 2, 4});
      const Value mask =
          greater(slice(reshape(x, {-1, 1, 1, 6}), {.starts = {0, 0, 0, 0}, .sizes = {-1, 1, 1, 4}}), -0.8);
      const AttentionOpOptions options{.mask = mask, .is_causal = true, .dropout = 0.4};
      return last_(reshape(dot_product_attention(heads, heads, heads, options), {-1, 32}));
    } else {
      const Value y = reshape(h, way == Way::more_axes ? Shape{-1, 2, 2, 8} : Shape{-1, 4, 8});
      return last_(reshape(attention_(y, y), {-1, 32}));
    }
  }
  Value training_step(const Batch& batch) override {
    return mean(sparse_categorical_crossentropy(batch["y"], (*this)(batch["x"]), {.from_logits = true}));
  }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 0.03})}}; }

 private:
  static MultiHeadAttentionOptions options() {
    MultiHeadAttentionOptions out{.num_heads = 2, .key_dim = 4, .dropout = 0.4};
    if (way == Way::decomposed) out.flash_attention = false;
    if (way == Way::more_axes) out.attention_axes = {2};
    return out;
  }

  Dense first_ = sub("first", Dense(32));
  MultiHeadAttention attention_ = sub("attention", MultiHeadAttention(options()));
  Dense last_ = sub("last", Dense(3));
};

// 53 = 4 * 12 + 5: blocks of 3 and 2; of 2, 2 and 1; of 2, 1, 1 and 1 samples.
template <Way way>
void check_against_one(const char* precision, double tolerance) {
  const TrainerOptions options = rank_trainer({.max_epochs = 2, .precision = precision});
  for (const int ranks : {2, 3, 4}) {
    BOOST_TEST_CONTEXT(ranks << " ranks, " << precision) {
      BOOST_TEST(difference_by_ranks<DroppedAttention<way>>(ranks, options, 53) < tolerance);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rank_attention)

BOOST_AUTO_TEST_CASE(weights_are_dropped_by_the_sample) {
  check_against_one<Way::fused>("float64", 1e-12);
  check_against_one<Way::masked>("float64", 1e-12);
}

BOOST_AUTO_TEST_CASE(fast_kernels_drop_by_the_sample) {
  check_against_one<Way::fused>("float32", 1e-5);
  check_against_one<Way::masked>("float32", 1e-5);
}

BOOST_AUTO_TEST_CASE(attention_that_stores_its_scores) { check_against_one<Way::decomposed>("float64", 1e-12); }

BOOST_AUTO_TEST_CASE(attention_along_one_of_several_axes) { check_against_one<Way::more_axes>("float64", 1e-12); }

BOOST_AUTO_TEST_SUITE_END()
