// Each name of Habana HMP's lists: the computation of that name follows the list that has it, or a warning says why
// not.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include <mezzo/mezzo.hpp>

#include "support/captured.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct Listed {
  const char* name;
  Shape shape;  // of x
  std::function<Value(const Value& x)> call;
};

Value loss_of(const Any<Loss>& loss, const Value& x) { return (*loss)(Tensor(x.shape(), DType::float32), x); }
Value by_product(const Value& x) { return matmul(x, Tensor({3, 2})); }
Value in_training(const Any<Layer>& layer, const Value& x) { return layer(x, {.training = true}); }

const std::vector<Listed>& lower_names() {
  static const std::vector<Listed> all{
      {"addmm", {2, 3}, by_product},
      {"batch_norm", {2, 3}, [](const Value& x) { return BatchNormalization()(x); }},
      {"bmm",
       {4, 2, 3},
       [](const Value& x) {
         return matmul(x, Tensor({4, 3, 2}));
       }},
      {"conv1d",
       {1, 4, 2},
       [](const Value& x) { return Conv1D({.filters = 3, .kernel_size = 1, .use_bias = false})(x); }},
      {"conv2d",
       {1, 4, 4, 2},
       [](const Value& x) {
         return conv2d(x, Tensor({1, 1, 2, 3}));
       }},
      {"conv3d",
       {1, 4, 4, 4, 2},
       [](const Value& x) { return Conv3D({.filters = 3, .kernel_size = 2, .use_bias = false})(x); }},
      {"conv_transpose1d",
       {1, 4, 2},
       [](const Value& x) { return Conv1DTranspose({.filters = 3, .kernel_size = 1, .use_bias = false})(x); }},
      {"conv_transpose2d",
       {1, 4, 4, 2},
       [](const Value& x) {
         return conv_transpose(x, Tensor({2, 2, 3, 2}));
       }},
      {"conv_transpose3d",
       {1, 4, 4, 4, 2},
       [](const Value& x) { return Conv3DTranspose({.filters = 3, .kernel_size = 2, .use_bias = false})(x); }},
      {"dot",
       {2, 3},
       [](const Value& x) {
         return mezzo::dot(x, Tensor({3, 2}));
       }},
      {"dropout", {2, 3}, [](const Value& x) { return in_training(Dropout(0.5), x); }},
      {"dropout1d", {2, 3, 4}, [](const Value& x) { return in_training(SpatialDropout1D(0.5), x); }},
      {"dropout2d", {2, 3, 3, 4}, [](const Value& x) { return in_training(SpatialDropout2D(0.5), x); }},
      {"dropout3d", {2, 3, 3, 3, 4}, [](const Value& x) { return in_training(SpatialDropout3D(0.5), x); }},
      {"group_norm", {2, 4}, [](const Value& x) { return GroupNormalization(2)(x); }},
      {"instance_norm", {2, 3, 4}, [](const Value& x) { return GroupNormalization(-1)(x); }},
      {"layer_norm", {2, 4}, [](const Value& x) { return LayerNormalization()(x); }},
      {"leaky_relu", {2, 3}, [](const Value& x) { return LeakyReLU()(x); }},
      {"linear", {2, 3}, [](const Value& x) { return Dense({.units = 2, .use_bias = false})(x); }},
      {"matmul", {2, 3}, by_product},
      {"mm", {2, 3}, by_product},
      {"mul", {2, 3}, [](const Value& x) { return x * x; }},
      {"mv", {2, 3}, [](const Value& x) { return matmul(x, Tensor({3})); }},
      {"relu", {2, 3}, [](const Value& x) { return relu(x); }},
      {"t", {2, 3}, [](const Value& x) { return transpose(x); }}};
  return all;
}

const std::vector<Listed>& wide_names() {
  static const std::vector<Listed> all{
      {"div", {2, 3}, [](const Value& x) { return x / x; }},
      {"divide", {2, 3}, [](const Value& x) { return x / x; }},
      {"embedding", {4, 3}, [](const Value& x) { return gather(x, Tensor({2}, DType::int64)); }},
      {"log", {2, 3}, [](const Value& x) { return log(x); }},
      {"log2", {2, 3}, [](const Value& x) { return log2(x); }},
      {"log_softmax", {2, 3}, [](const Value& x) { return log_softmax(x); }},
      {"softmax", {2, 3}, [](const Value& x) { return softmax(x); }},
      {"topk", {2, 3}, [](const Value& x) { return top_k(x, 1).values; }},
      {"truediv", {2, 3}, [](const Value& x) { return divide(x, x); }}};
  return all;
}

const std::vector<Listed>& loss_names() {
  static const std::vector<Listed> all{
      {"binary_cross_entropy", {2, 3}, [](const Value& x) { return loss_of(BinaryCrossentropy(), x); }},
      {"binary_cross_entropy_with_logits",
       {2, 3},
       [](const Value& x) { return loss_of(BinaryCrossentropy({.from_logits = true}), x); }},
      {"smooth_l1_loss", {2, 3}, [](const Value& x) { return loss_of(Huber(), x); }},
      {"cross_entropy",
       {2, 3},
       [](const Value& x) { return SparseCategoricalCrossentropy()(Tensor({2}, DType::int64), x); }},
      {"nll_loss", {2, 3}, [](const Value& x) {
         return SparseCategoricalCrossentropy()(Tensor({2}, DType::int64), x);
       }}};
  return all;
}

using Names = std::vector<std::string>;

OpLists only(const Names& lower, const Names& wide) { return OpLists({.lower = lower, .float32 = wide}); }

/// Dtypes of the computation on float32 and on bfloat16 numbers, called at once and as a functional model.
std::string dtypes(const Listed& listed, const OpLists& lists) {
  std::string out;
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    const Value in = Input({.shape = {listed.shape.begin() + 1, listed.shape.end()}, .dtype = dtype});
    // Rows of a table, a loss with targets for all samples, a view of a product outside of layers.
    const std::set<std::string> at_once{"embedding",
                                        "mv",
                                        "cross_entropy",
                                        "nll_loss",
                                        "smooth_l1_loss",
                                        "binary_cross_entropy",
                                        "binary_cross_entropy_with_logits"};
    const bool alone = at_once.count(listed.name) > 0;
    std::optional<Model> model;
    if (!alone) model.emplace(in, listed.call(in));
    const detail::PolicyScope trainer(lists);
    const auto count = static_cast<std::size_t>(element_count(listed.shape));
    const Tensor x = Tensor(listed.shape, std::vector<float>(count, 0.5F)).cast(dtype);
    const std::string name = dtype_name(listed.call(x).dtype());
    if (model) BOOST_TEST(name == dtype_name((*model)(Value(x)).dtype()), listed.name);
    out += (out.empty() ? "" : " ") + name;
  }
  return out;
}

const std::string as_given = "float32 bfloat16", low = "bfloat16 bfloat16", wide = "float32 float32";

}  // namespace

BOOST_AUTO_TEST_SUITE(listed_names)

BOOST_AUTO_TEST_CASE(are_forty) {
  const std::size_t embedding_bag = 1;
  BOOST_TEST(lower_names().size() + wide_names().size() + loss_names().size() + embedding_bag == 40U);
}

BOOST_AUTO_TEST_CASE(computations_follow_the_list_that_has_their_name) {
  const CapturedOutput output;
  for (const auto* names : {&lower_names(), &wide_names()}) {
    for (const Listed& listed : *names) {
      BOOST_TEST(dtypes(listed, only({listed.name}, {})) == low, listed.name);
      BOOST_TEST(dtypes(listed, only({}, {listed.name})) == wide, listed.name);
      BOOST_TEST(dtypes(listed, only({}, {})) == as_given, listed.name);
    }
  }
  for (const Listed& listed : lower_names()) BOOST_TEST(dtypes(listed, OpLists()) == low, listed.name);
  for (const Listed& listed : wide_names()) BOOST_TEST(dtypes(listed, OpLists()) == wide, listed.name);
  BOOST_TEST(output.text() == "");
}

BOOST_AUTO_TEST_CASE(o2_has_all_convolutions_and_products_in_low_precision) {
  const OpLists lists({.opt_level = "O2"});
  for (const Listed& listed : lower_names()) {
    const std::string name = listed.name;
    const Names products{"addmm", "bmm", "dot", "linear", "matmul", "mm", "mv"};
    const bool expected =
        name.rfind("conv", 0) == 0 || std::find(products.begin(), products.end(), name) != products.end();
    BOOST_TEST(dtypes(listed, lists) == (expected ? low : wide), name);
  }
  for (const Listed& listed : wide_names()) BOOST_TEST(dtypes(listed, lists) == wide, listed.name);
}

BOOST_AUTO_TEST_CASE(losses_compute_in_float32) {
  for (const Listed& listed : loss_names()) {
    BOOST_TEST(dtypes(listed, OpLists()) == wide, listed.name);
    BOOST_TEST(dtypes(listed, only({}, {listed.name})) == wide, listed.name);
    const CapturedOutput output;
    BOOST_TEST(dtypes(listed, only({listed.name}, {})) == wide, listed.name);
    const bool listable = std::string(listed.name) == "cross_entropy" || std::string(listed.name) == "nll_loss";
    BOOST_TEST(output.text() == (listable ? ""
                                          : "mezzo: warning: [OpLists] lower: \"" + std::string(listed.name) +
                                                "\" has no effect: losses compute in at least float32\n"));
  }
}

BOOST_AUTO_TEST_CASE(names_without_a_computation_warn) {
  for (const bool lower : {false, true}) {
    const CapturedOutput output;
    only(lower ? Names{"embedding_bag"} : Names{}, lower ? Names{} : Names{"embedding_bag"});
    BOOST_TEST(output.text() == "mezzo: warning: [OpLists] " + std::string(lower ? "lower" : "float32") +
                                    ": \"embedding_bag\" has no effect: no op of this library computes it alone\n");
  }
}

// multiply and rsqrt are in no list here, or in that of the lower precision.
BOOST_AUTO_TEST_CASE(ops_inside_of_a_composition_follow_no_list) {
  const Tensor x({2, 4}, std::vector<float>{1.01F, 2.02F, 3.03F, 4.04F, 5.05F, 6.06F, 7.07F, 8.09F});
  const auto same = [&](const Any<Layer>& layer) {
    const Tensor expected = layer(Value(x)).tensor();
    const detail::PolicyScope trainer(only({"mul", "rsqrt", "mean", "sub", "add", "where"}, {}));
    BOOST_TEST(layer(Value(x)).tensor().equal(expected), layer->state()->kind);
  };
  same(GroupNormalization(2));
  same(GroupNormalization(-1));
  same(RMSNormalization());
  same(UnitNormalization());
  same(LeakyReLU(0.3));
  same(Rescaling(0.3));
}

BOOST_AUTO_TEST_SUITE_END()
