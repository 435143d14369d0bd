// Compiled generation, with a model of one attention layer.
#include <boost/test/unit_test.hpp>

#include <malloc.h>

#include <mezzo/mezzo.hpp>
#include <mezzo/models/generator.hpp>
#include <mezzo/models/transformer.hpp>

#include "support/memory.hpp"
#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr std::int64_t token_count = 11;

struct AttentionModelOptions {
  std::string name{};
  Policy dtype{};
};

class AttentionModel : public Model {
 public:
  explicit AttentionModel(AttentionModelOptions options = {}) : Model("AttentionModel", options) { build({1, 1}); }

 protected:
  Values call_many(const Values& xs) override {
    Values in{wte_(xs[0])};
    if (xs.size() > 1) in.insert(in.end(), {xs[2], xs[3], xs[1]});
    Values out = attn_(in);
    const Value last = slice(out[0], {.starts = {0, out[0].shape()[1] - 1, 0}, .sizes = {-1, 1, -1}});
    out[0] = head_(last);
    return out;
  }

 private:
  Embedding wte_ = sub("wte", Embedding(token_count, 12));
  detail::SelfAttention attn_ = sub("attn", detail::SelfAttention({.num_heads = 3,
                                                                   .input = Dense(36),
                                                                   .output = Dense(12),
                                                                   .input_name = "in",
                                                                   .output_name = "out",
                                                                   .causal = true}));
  Dense head_ = sub("head", Dense(token_count));
};

/// A generator with its model.
struct Generation {
  AttentionModel model;
  detail::Generator generator{2, 16};
  int traces = 0;

  detail::Generator::Run run() {
    return {generator, {.module = &model, .vocab_size = token_count, .with_past = [this](const Values& xs) {
                          ++traces;
                          return model(xs);
                        }}};
  }
};

Tensor prompt_of(std::int64_t positions) { return random_tensor({2, positions}, DType::int64, 1, 0, token_count); }

Tensor with_tokens(const Tensor& ids, const std::vector<std::int64_t>& tokens) {
  return concat({ids, Tensor({2, 1}, tokens)}, 1).tensor();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(generator)

BOOST_AUTO_TEST_CASE(a_token_gives_what_the_whole_sequence_gives) {
  Generation g;
  Tensor ids = prompt_of(3);
  auto run = g.run();
  run.begin(ids);
  for (std::int64_t position = 3; position < 16; ++position) {
    const std::vector<std::int64_t> tokens{position % token_count, 3 * position % token_count};
    ids = with_tokens(ids, tokens);
    const Tensor expected = g.model(Values{ids})[0].tensor().reshape({2, token_count});
    BOOST_TEST(largest_difference(run.next(tokens.data(), position), expected) < 1e-5);
  }
}

BOOST_AUTO_TEST_CASE(a_new_prompt_forgets_the_last_one) {
  Generation g;
  auto run = g.run();
  const std::vector<std::int64_t> tokens{4, 5};
  run.begin(prompt_of(9));
  run.next(tokens.data(), 9);
  const Tensor ids = prompt_of(2);
  run.begin(ids);
  const Tensor expected = g.model(Values{with_tokens(ids, tokens)})[0].tensor().reshape({2, token_count});
  BOOST_TEST(largest_difference(run.next(tokens.data(), 2), expected) < 1e-5);
}

BOOST_AUTO_TEST_CASE(plans_are_made_once_for_each_length_of_prompts_and_for_the_tokens) {
  Generation g;
  const std::vector<std::int64_t> tokens{4, 5};
  for (const std::int64_t length : {3, 5, 3, 5}) {
    auto run = g.run();
    run.begin(prompt_of(length));
    for (std::int64_t i = 0; i < 4; ++i) run.next(tokens.data(), length + i);
  }
  BOOST_TEST(g.generator.plans() == 3U);
  BOOST_TEST(g.traces == 3);
}

BOOST_AUTO_TEST_CASE(caches_have_the_dtype_of_the_policy) {
  for (const auto& [policy, dtype] :
       {std::pair("float32", DType::float32), std::pair("mixed_bfloat16", DType::bfloat16),
        std::pair("mixed_float16", DType::float16), std::pair("float64", DType::float64)}) {
    Generation g;
    const Tensor ids = prompt_of(3);
    const std::vector<std::int64_t> tokens{4, 5};
    {  // caches of another policy before
      auto run = g.run();
      run.begin(ids);
      run.next(tokens.data(), 3);
    }
    const auto region = autocast(policy);
    auto run = g.run();
    run.begin(ids);
    const Tensor logits = run.next(tokens.data(), 3);
    BOOST_TEST((logits.dtype() == DType::float32));
    const Tensor expected = g.model(Values{with_tokens(ids, tokens)})[0].tensor().reshape({2, token_count});
    BOOST_TEST(largest_difference(logits, expected) < (dtype == DType::bfloat16 ? 0.03 : 0.005));
    BOOST_TEST_REQUIRE(g.generator.caches().size() == 2U);
    for (const Variable& cache : g.generator.caches()) {
      BOOST_TEST((cache.dtype() == dtype));
      BOOST_TEST((cache.shape() == Shape{2, 3, 16, 4}));
    }
  }
}

BOOST_AUTO_TEST_CASE(changed_weights_count) {
  Generation g;
  const Tensor ids = prompt_of(3);
  for (int i = 0; i < 2; ++i) {
    const Tensor expected = g.model(Values{ids})[0].tensor().reshape({2, token_count});
    BOOST_TEST(largest_difference(g.run().begin(ids), expected) < 1e-5);
    for (const Variable& weight : g.model.weights()) weight.assign((Value(weight.value()) * 1.5).tensor());
  }
}

BOOST_AUTO_TEST_CASE(an_error_changes_no_cache) {
  Generation g;
  auto run = g.run();
  const Tensor ids = prompt_of(3);
  run.begin(ids);
  const std::vector<std::int64_t> bad{0, token_count}, tokens{4, 5};
  BOOST_TEST(refused<ValueError>([&] { run.next(bad.data(), 3); }).find("11") != std::string::npos);
  const Tensor expected = g.model(Values{with_tokens(ids, tokens)})[0].tensor().reshape({2, token_count});
  BOOST_TEST(largest_difference(run.next(tokens.data(), 3), expected) < 1e-5);
}

BOOST_AUTO_TEST_CASE(a_model_that_runs_is_refused) {
  Generation g;
  const auto run = g.run();
  BOOST_TEST(refused<ValueError>([&] { g.run(); }) ==
             "[Trainer] the model must be idle; got a call while another thread or step runs it: wait for its end, "
             "call it in a callback, or predict by model.predictor()");
}

BOOST_AUTO_TEST_CASE(memory_does_not_grow_with_tokens) {
  if (!reports_missing_memory()) return;
  Generation g;
  auto run = g.run();
  const std::vector<std::int64_t> tokens{4, 5};
  const auto grows = [&] {
    const std::size_t before = mallinfo2().uordblks;
    for (std::int64_t position = 2; position < 16; ++position) run.next(tokens.data(), position);
    return mallinfo2().uordblks != before;
  };
  run.begin(prompt_of(1));
  run.next(tokens.data(), 1);
  // The count is that of the process: a thread of the pool, once it gets work, may allocate something once.
  int rounds = 1;
  while (grows() && rounds < 4) ++rounds;
  BOOST_TEST(rounds < 4);
}

BOOST_AUTO_TEST_SUITE_END()
