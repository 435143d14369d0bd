#include <boost/test/unit_test.hpp>

#include <algorithm>

#include <mezzo/core/random.hpp>
#include <mezzo/mezzo.hpp>

#include "parity.hpp"
#include "small.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using Ids = std::vector<std::int64_t>;

GPT random_gpt() {
  seed_everything(5);
  GPT model(small_gpt());
  model.build({1, 1});
  return model;
}

/// GPT with the recorded weights.
GPT recorded_gpt() {
  GPT model(small_gpt());
  load_formula(recorded("models").at("gpt"), model);
  return model;
}

Tensor ids(const Shape& shape, std::uint64_t seed = 1) { return random_tensor(shape, DType::int64, seed, 0, 17); }

Ids numbers(const Tensor& x) { return {x.data<std::int64_t>(), x.data<std::int64_t>() + x.size()}; }

/// Rank of each generated id (from position `given` on) among all ids, 0 for the most likely one. Computes the logits
/// of the whole sequence without a cache.
std::vector<std::int64_t> ranks(GPT& model, const Tensor& sequence, std::int64_t given) {
  std::vector<std::int64_t> out;
  const std::int64_t batch = sequence.shape()[0], length = sequence.shape()[1];
  for (std::int64_t position = given; position < length; ++position) {
    const Tensor before = slice(sequence, {.starts = {0, 0}, .sizes = {-1, position}}).tensor();
    const std::vector<double> logits = model(before).tensor().to_doubles();
    for (std::int64_t row = 0; row < batch; ++row) {
      const auto begin = logits.begin() + ((row + 1) * position - 1) * 17;
      const double chosen = begin[sequence.data<std::int64_t>()[row * length + position]];
      out.push_back(std::count_if(begin, begin + 17, [&](double other) { return other > chosen; }));
    }
  }
  return out;
}

/// What generate() gives, by the logits of the whole sequence for each token.
Tensor generate_slowly(GPT& model, const Tensor& prompt, const GenerateOptions& options) {
  const std::uint64_t key = detail::mix(seed(), detail::next_stream());
  std::uint64_t draws = 0;
  Tensor sequence = prompt;
  for (std::int64_t i = 0; i < options.max_new_tokens; ++i) {
    const std::int64_t batch = sequence.shape()[0], length = sequence.shape()[1];
    const std::vector<double> logits = model(sequence).tensor().to_doubles();
    Tensor next({batch, 1}, DType::int64);
    for (std::int64_t row = 0; row < batch; ++row) {
      const auto begin = logits.begin() + ((row + 1) * length - 1) * 17;
      std::vector<double> sorted(begin, begin + 17);
      std::sort(sorted.rbegin(), sorted.rend());
      const std::int64_t count = !options.do_sample ? 1 : options.top_k > 0 ? options.top_k : 17;
      const double least = sorted[static_cast<std::size_t>(count - 1)];
      double total = 0;
      std::vector<double> weights;
      for (std::int64_t id = 0; id < 17; ++id) {
        weights.push_back(begin[id] >= least ? std::exp((begin[id] - sorted[0]) / options.temperature) : 0);
        total += weights.back();
      }
      std::int64_t id = 16;
      if (options.do_sample) {
        const auto words = philox(key, draws++);
        double rest = unit_double(words[0], words[1]) * total;
        for (id = 0; id < 16 && rest >= weights[static_cast<std::size_t>(id)]; ++id) {
          rest -= weights[static_cast<std::size_t>(id)];
        }
      } else {
        id = std::max_element(weights.begin(), weights.end()) - weights.begin();
      }
      next.mutable_data<std::int64_t>()[row] = id;
    }
    sequence = concat({sequence, next}, 1).tensor();
  }
  return sequence;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gpt_generate)

BOOST_AUTO_TEST_CASE(tokens_are_those_of_the_whole_sequence_for_every_way_to_choose) {
  GPT model = recorded_gpt();
  for (const std::int64_t batch : {1, 3}) {
    for (const GenerateOptions& options :
         {GenerateOptions{.max_new_tokens = 10}, GenerateOptions{.max_new_tokens = 10, .do_sample = true},
          GenerateOptions{.max_new_tokens = 10, .do_sample = true, .temperature = 0.5},
          GenerateOptions{.max_new_tokens = 10, .do_sample = true, .temperature = 3, .top_k = 4}}) {
      const Tensor prompt = ids({batch, 3}, 4);
      seed_everything(7);
      const Tensor expected = generate_slowly(model, prompt, options);
      seed_everything(7);
      BOOST_TEST(model.generate(prompt, options).equal(expected));
    }
  }
}

BOOST_AUTO_TEST_CASE(clones_have_caches_and_plans_of_their_own) {
  GPT model = recorded_gpt();
  const Tensor prompt = ids({2, 3});
  const Tensor expected = model.generate(prompt, {.max_new_tokens = 9});
  GPT copy = clone(model), sharing = model;
  BOOST_TEST(sharing.generate(prompt, {.max_new_tokens = 9}).equal(expected));
  for (const Variable& weight : model.weights()) weight.assign(Tensor(weight.shape()));
  BOOST_TEST(copy.generate(prompt, {.max_new_tokens = 9}).equal(expected));
  BOOST_TEST(!model.generate(prompt, {.max_new_tokens = 9}).equal(expected));
}

BOOST_AUTO_TEST_CASE(a_hook_between_the_steps_of_a_training_may_generate) {
  GPT model(small_gpt());
  model.compile({.optimizer = "sgd", .loss = SparseCategoricalCrossentropy({.from_logits = true})});
  const Tensor x = ids({4, 5});
  std::vector<Tensor> generated;
  LambdaCallback callback({.on_epoch_end = [&](int, const auto&) {
    generated.push_back(model.generate(ids({1, 3}), {.max_new_tokens = 9}));
  }});
  model.fit(x, x, {.batch_size = 2, .epochs = 2, .verbose = 0, .callbacks = {callback}});
  BOOST_TEST_REQUIRE(generated.size() == 2U);
  BOOST_TEST(model.generate(ids({1, 3}), {.max_new_tokens = 9}).equal(generated[1]));
}

BOOST_AUTO_TEST_CASE(kept_keys_and_values_give_what_the_whole_sequence_gives) {
  GPT model = random_gpt();
  for (const std::int64_t given : {1, 4, 11}) {
    const Tensor prompt = ids({2, given});
    const Tensor out = model.generate(prompt, {.max_new_tokens = 12 - given});
    BOOST_TEST((out.shape() == Shape{2, 12}));
    BOOST_TEST((out.dtype() == DType::int64));
    BOOST_TEST(slice(out, {.starts = {0, 0}, .sizes = {-1, given}}).tensor().equal(prompt));
    for (const std::int64_t rank : ranks(model, out, given)) BOOST_TEST(rank == 0);
  }
}

BOOST_AUTO_TEST_CASE(ids_are_those_of_hugging_face) {
  GPT model = recorded_gpt();
  const nlohmann::json& expected = recorded("models").at("gpt").at("generated");
  const Tensor prompt = recorded_ids(expected.at("prompt"));
  BOOST_TEST(model.generate(prompt, {.max_new_tokens = 9}).equal(recorded_ids(expected.at("greedy"))));

  // Hugging Face stops when all rows have ended; mezzo fills the rest with eos_token_id.
  const std::int64_t eos = expected.at("eos");
  const Tensor ended = recorded_ids(expected.at("ended"));
  const Tensor out = model.generate(prompt, {.max_new_tokens = 9, .eos_token_id = eos});
  BOOST_TEST((out.shape() == Shape{2, 12}));
  const std::int64_t length = ended.shape()[1];
  BOOST_TEST(slice(out, {.starts = {0, 0}, .sizes = {-1, length}}).tensor().equal(ended));
  for (const std::int64_t id : numbers(slice(out, {.starts = {0, length}, .sizes = {-1, -1}}).tensor()))
    BOOST_TEST(id == eos);
}

BOOST_AUTO_TEST_CASE(the_likeliest_one_is_drawn_at_top_k_1_and_in_the_cold) {
  GPT model = recorded_gpt();
  const Tensor prompt = ids({2, 2});
  const Tensor greedy = model.generate(prompt, {.max_new_tokens = 10});
  BOOST_TEST(model.generate(prompt, {.max_new_tokens = 10, .do_sample = true, .top_k = 1}).equal(greedy));
  BOOST_TEST(model.generate(prompt, {.max_new_tokens = 10, .do_sample = true, .temperature = 1e-5}).equal(greedy));
}

BOOST_AUTO_TEST_CASE(no_less_likely_one_is_drawn_than_top_k) {
  GPT model = recorded_gpt();
  const Tensor out =
      model.generate(ids({2, 1}), {.max_new_tokens = 11, .do_sample = true, .temperature = 5, .top_k = 2});
  const std::vector<std::int64_t> drawn = ranks(model, out, 1);
  BOOST_TEST(*std::max_element(drawn.begin(), drawn.end()) == 1);
}

BOOST_AUTO_TEST_CASE(draws_follow_the_softmax) {
  GPT model = recorded_gpt();
  const Tensor prompt({4000, 1}, Ids(4000, 3));
  const std::vector<double> logits = model(Tensor({1, 1}, Ids{3})).tensor().to_doubles();
  const Ids out = numbers(model.generate(prompt, {.max_new_tokens = 1, .do_sample = true, .temperature = 2}));
  double total = 0;
  for (const double logit : logits) total += std::exp(logit / 2);
  for (std::int64_t id = 0; id < 17; ++id) {
    double share = 0;
    for (std::size_t row = 0; row < 4000; ++row) share += out[2 * row + 1] == id ? 1.0 / 4000 : 0;
    const double p = std::exp(logits[static_cast<std::size_t>(id)] / 2) / total;
    BOOST_TEST(std::abs(share - p) <= 4.5 * std::sqrt(p / 4000));
  }
}

BOOST_AUTO_TEST_CASE(draws_repeat_with_the_seed) {
  GPT model = random_gpt();
  const auto draw = [&] { return model.generate(ids({2, 2}), {.max_new_tokens = 10, .do_sample = true}); };
  seed_everything(3);
  const Tensor first = draw(), second = draw();
  seed_everything(3);
  BOOST_TEST(draw().equal(first));
  BOOST_TEST(!second.equal(first));
}

BOOST_AUTO_TEST_CASE(nothing_new_is_the_prompt) {
  GPT model = random_gpt();
  BOOST_TEST(model.generate(ids({2, 3}).cast(DType::int32), {.max_new_tokens = 0}).equal(ids({2, 3})));
}

// The last new token is never an input, so there may be one token more than n_positions.
BOOST_AUTO_TEST_CASE(as_many_as_fit_are_generated) {
  GPT model = random_gpt();
  BOOST_TEST((model.generate(ids({1, 12}), {.max_new_tokens = 1}).shape() == Shape{1, 13}));
  BOOST_TEST(refused<ShapeError>([&] {
               model.generate(ids({1, 10}), {.max_new_tokens = 4});
             }) == "[GPT] generate: positions and max_new_tokens may be n_positions + 1 = 13 together; got 10 + 4");
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  GPT model = random_gpt();
  const auto generate = [&](const GenerateOptions& options) {
    return refused<ValueError>([&] { model.generate(ids({1, 2}), options); });
  };
  BOOST_TEST(generate({.max_new_tokens = -1}) == "[GPT] generate: max_new_tokens must not be negative; got -1");
  BOOST_TEST(generate({.temperature = 0}) == "[GPT] generate: temperature must be positive; got 0");
  BOOST_TEST(generate({.top_k = -1}) == "[GPT] generate: top_k must not be negative; got -1");
  const std::string shape =
      "[GPT] generate: input_ids must be (batch, positions) with at least one position; got shape ";
  BOOST_TEST(refused<ShapeError>([&] { model.generate(ids({3})); }) == shape + "(3,)");
  BOOST_TEST(refused<ShapeError>([&] { model.generate(ids({3, 0})); }) == shape + "(3, 0)");
  const Tensor unknown({1, 1}, Ids{17});
  BOOST_TEST(refused<ValueError>([&] { model.generate(unknown, {.max_new_tokens = 1}); }).find("17") !=
             std::string::npos);
  BOOST_TEST(model.generate(ids({1, 2}), {.max_new_tokens = 1}).size() == 3);  // an error leaves no state behind
}

BOOST_AUTO_TEST_SUITE_END()
