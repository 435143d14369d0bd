#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// A function that counts its traces: the model's outputs, and a running sum of their first column.
struct CountedFunction {
  Sequential model{{Input({3}), Dense(2)}};
  Variable total{"total"};
  int traces = 0;
  CompiledFunction function{[this](const Values& xs) {
    ++traces;
    const Value y = model(xs[0]);
    update_variable(total.state().pointer(), total + sum(slice(y, {.starts = {0, 0}, .sizes = {-1, 1}})));
    return Values{y, 2 * xs[0]};
  }};

  CountedFunction() { total.assign(Tensor(Shape{})); }
};

Tensor numbers_of(std::int64_t rows, std::uint64_t seed = 1) { return random_tensor({rows, 3}, DType::float32, seed); }

}  // namespace

BOOST_AUTO_TEST_SUITE(compiled_function)

BOOST_AUTO_TEST_CASE(outputs_and_updates_are_those_of_eager_code) {
  CountedFunction f;
  CompiledFunction::Session session(f.function, f.model);
  double total = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Tensor x = numbers_of(4, seed);
    const std::vector<Tensor>& out = session({x});
    const Tensor expected = f.model(x).tensor();
    BOOST_TEST_REQUIRE(out.size() == 2U);
    BOOST_TEST(largest_difference(out[0], expected) < 1e-6);
    BOOST_TEST(out[1].equal((2 * Value(x)).tensor()));
    for (std::int64_t row = 0; row < 4; ++row) total += expected.data<float>()[2 * row];
    BOOST_TEST(std::abs(f.total.value().item() - total) < 1e-5);
  }
  BOOST_TEST(f.traces == 1);
}

BOOST_AUTO_TEST_CASE(it_is_traced_once_for_each_shape_and_dtype) {
  CountedFunction f;
  CompiledFunction::Session session(f.function, f.model);
  for (const std::int64_t rows : {4, 5, 4, 5}) session({numbers_of(rows)});
  BOOST_TEST(f.traces == 2);
  session({numbers_of(4).cast(DType::float64)});
  BOOST_TEST(f.traces == 3);
  BOOST_TEST(f.function.plans() == 3U);
}

BOOST_AUTO_TEST_CASE(plans_beyond_the_cache_are_dropped) {
  const int size = plan_cache_size();
  set_plan_cache_size(2);
  CountedFunction f;
  {
    CompiledFunction::Session session(f.function, f.model);
    for (const std::int64_t rows : {4, 5, 4, 6, 4, 5}) session({numbers_of(rows)});
  }
  set_plan_cache_size(size);
  BOOST_TEST(f.function.plans() == 2U);
  BOOST_TEST(f.traces == 4);  // 5 was dropped for 6
}

BOOST_AUTO_TEST_CASE(a_session_has_the_policy_and_the_threads_of_its_beginning) {
  CountedFunction f;
  const Tensor x = numbers_of(4);
  const auto run = [&] { return CompiledFunction::Session(f.function, f.model)({x})[0]; };
  BOOST_TEST((run().dtype() == DType::float32));
  {
    const auto region = autocast("mixed_bfloat16");
    BOOST_TEST((run().dtype() == DType::bfloat16));
  }
  BOOST_TEST((run().dtype() == DType::float32));
  BOOST_TEST(f.traces == 3);
  const int threads = thread_count();
  set_thread_count(threads + 1);
  run();
  set_thread_count(threads);
  BOOST_TEST(f.traces == 4);
}

BOOST_AUTO_TEST_CASE(outputs_that_the_caller_keeps_stay) {
  CountedFunction f;
  CompiledFunction::Session session(f.function, f.model);
  const Tensor first = session({numbers_of(4, 1)})[1], copy = first.copy();
  session({numbers_of(4, 2)});
  BOOST_TEST(first.equal(copy));
}

BOOST_AUTO_TEST_CASE(random_numbers_are_drawn_anew_in_each_call) {
  Sequential model({Input({3}), Dense(2)});
  CompiledFunction noise([](const Values& xs) { return Values{random::normal({4}) + sum(xs[0]) * 0}; });
  const Tensor x = numbers_of(4);
  seed_everything(3);
  std::vector<Tensor> drawn;
  {
    CompiledFunction::Session session(noise, model);
    for (int i = 0; i < 3; ++i) drawn.push_back(session({x})[0].copy());
  }
  BOOST_TEST(!drawn[0].equal(drawn[1]));
  BOOST_TEST(!drawn[1].equal(drawn[2]));
  seed_everything(3);
  BOOST_TEST((CompiledFunction::Session(noise, model)({x})[0].equal(drawn[0])));
}

BOOST_AUTO_TEST_CASE(counters_are_those_of_the_model) {
  Sequential model({Input({3}), Dense(2)});
  CompiledFunction counters([](const Values& xs) { return Values{step() + epoch() * 100, sum(xs[0])}; });
  const Tensor x = numbers_of(4);
  const auto run = [&] { return CompiledFunction::Session(counters, model)({x})[0].item(); };
  BOOST_TEST(run() == 0);
  model.compile({.loss = "mse"});
  model.fit(x, Tensor({4, 2}), {.batch_size = 2, .epochs = 3, .verbose = false});
  BOOST_TEST(run() == 306);
  BOOST_TEST(counters.plans() == 1U);
}

BOOST_AUTO_TEST_CASE(a_running_model_is_refused) {
  CountedFunction f;
  const CompiledFunction::Session session(f.function, f.model);
  BOOST_TEST(refused<ValueError>([&] { CompiledFunction::Session(f.function, f.model); }) ==
             "[Trainer] the model must be idle; got a call while another thread or step runs it: wait for its end, "
             "call it in a callback, or predict by model.predictor()");
}

BOOST_AUTO_TEST_SUITE_END()
