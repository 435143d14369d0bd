// Allocations of steps, counted by a replacement of operator new.
#include <boost/test/unit_test.hpp>

#include <set>

#include <mezzo/backends/onednn/implementations.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/tuning.hpp>
#include <mezzo/training/step/step_runner.hpp>

#include "small.hpp"
#include "support/allocations.hpp"
#include "support/layers.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using detail::StepRunner;

namespace {

HostBatch batch_of(std::int64_t size) {
  return {{{"x", Tensor({size, 6, 6, 2})}, {"y", Tensor({size}, DType::int64), Role::target}}, size};
}

Sequential model_of(const char* policy, const AdamWOptions& options = {}) {
  Sequential model({Conv2D({.filters = 3, .kernel_size = 3, .activation = "relu"}), BatchNormalization(),
                    MaxPooling2D(), Flatten(), Dropout({.rate = 0.5}), Scale({.initial = 2}), Dense({.units = 3})},
                   {.dtype = policy});
  AdamWOptions clipped = options;
  clipped.learning_rate = CosineDecay({.initial_learning_rate = 1e-3, .decay_steps = 9});
  clipped.global_clipnorm = 1;
  model.compile({.optimizer = AdamW(clipped),
                 .loss = SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"}});
  return model;
}

/// A few rounds of training and validation steps on one batch. Counts allocations after the first round.
struct Counted {
  explicit Counted(const char* policy, const AdamWOptions& options = {})
      : model(model_of(policy, options)), runner(model, {}) {
    set_yield_when_busy(false);  // its second team of threads allocates, when other programs take the processors
    runner.rehearse(Stage::fit, batch);
    runner.configure(false);
    round();
    primitives = onednn_primitives_created();
    allocated = allocations_of([&] {
      for (int i = 0; i < rounds; ++i) round();
    });
    primitives = onednn_primitives_created() - primitives;
  }

  void round() {
    for (const Stage phase : {Stage::fit, Stage::fit, Stage::validate}) {
      runner.run(phase, batch);
      // Results of metrics are computed once an epoch, and allocate.
      for (std::size_t i = 0; i < runner.logged().size(); ++i) {
        if (!runner.logged()[i].metric) runner.value(i);
      }
    }
  }

  static constexpr int rounds = 3;
  HostBatch batch = batch_of(4);
  Sequential model;
  StepRunner runner;
  std::int64_t allocated = 0;
  std::int64_t primitives = 0;
};

/// Number of oneDNN kernels that run in one round, also those inside other kernels.
int onednn_kernels(const detail::TrainingState& state) {
  int count = 0;
  for (const auto& step : state.plans.steps()) {
    for (const detail::Plan::Row& row : step->plan->rows()) {
      if ((row.kernel + row.detail).find("onednn") == std::string::npos) continue;
      count += step->signature.stage == Stage::fit ? 2 : 1;
    }
  }
  return count;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(step_runner)

BOOST_AUTO_TEST_CASE(allocations_are_counted_at_all) {
  BOOST_TEST(allocations_of([] { Tensor({4}).copy(); }) >= 2);
  BOOST_TEST(allocations_of([] {}) == 0);
}

BOOST_AUTO_TEST_CASE(a_step_without_onednn_allocates_nothing) {
  for (const char* policy :
       {"float64", "p=f64,c=f64,o=f32"}) {  // the second name is too long for the small buffer of std::string
    Counted counted(policy);
    BOOST_TEST_CONTEXT(policy) {
      BOOST_TEST(onednn_kernels(detail::training_state(counted.model)) == 0);
      BOOST_TEST(counted.allocated == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(onednns_own_allocations_are_few_and_it_creates_no_primitive) {
  const std::vector<std::pair<const char*, AdamWOptions>> cases{
      {"float32", {}},
      {"mixed_bfloat16", {}},
      {"mixed_float16", {}},
      {"mixed_bfloat16", {.split_master_weights = true}},
      {"bfloat16", {.stochastic_rounding = true, .state_dtype = DType::bfloat16}},
      {"bfloat16", {.kahan_summation = true}}};
  for (const auto& [policy, options] : cases) {
    Counted counted(policy, options);
    BOOST_TEST_CONTEXT(policy) {
      const int kernels = onednn_kernels(detail::training_state(counted.model));
      // The lists of a primitive's arguments and its scratch memory. Kernels that reorder an operand run two
      // primitives: 10.2 a kernel with oneDNN 3.2 and AVX-512.
      BOOST_TEST(counted.allocated <= 12 * kernels * Counted::rounds);
      BOOST_TEST(counted.primitives == 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(it_keeps_the_plans_that_were_used_last) {
  const int before = plan_cache_size();
  set_plan_cache_size(3);
  Sequential model = model_of("");
  StepRunner runner(model, {});
  runner.rehearse(Stage::fit, batch_of(4));
  runner.configure(false);
  const auto kept = [&] {
    std::set<std::int64_t> sizes;
    for (const auto& step : detail::training_state(model).plans.steps())
      sizes.insert(step->signature.inputs[0].shape[0]);
    return sizes;
  };
  for (const std::int64_t size : {1, 2, 3, 1, 4}) runner.run(Stage::fit, batch_of(size));
  BOOST_TEST((kept() == std::set<std::int64_t>{1, 3, 4}));
  for (std::int64_t size = 5; size < 30; ++size) {
    runner.run(Stage::fit, batch_of(size));
    runner.run(Stage::fit, batch_of(1));
  }
  BOOST_TEST((kept() == std::set<std::int64_t>{1, 28, 29}));
  set_plan_cache_size(before);
}

BOOST_AUTO_TEST_CASE(it_makes_a_plan_per_phase_shape_flags_policy_and_number_of_threads) {
  Sequential model = model_of("");
  const auto plans = [&] { return detail::training_state(model).plans.steps().size(); };
  const auto run = [&](const char* policy, Stage phase, std::int64_t size) {
    StepRunner runner(model, {.policy = policy});
    runner.rehearse(phase, batch_of(size));
    runner.configure(false);
    runner.run(phase, batch_of(size));
    return plans();
  };
  BOOST_TEST(run("", Stage::fit, 4) == 1U);
  BOOST_TEST(run("", Stage::fit, 4) == 1U);
  BOOST_TEST(run("", Stage::fit, 3) == 2U);
  BOOST_TEST(run("", Stage::validate, 4) == 3U);
  BOOST_TEST(run("mixed_bfloat16", Stage::fit, 4) == 4U);
  BOOST_TEST(run("", Stage::fit, 4) == 4U);
  model.get_layer("conv2d").set_trainable(false);
  BOOST_TEST(run("", Stage::fit, 4) == 5U);
  model.get_layer("conv2d").set_trainable(true);
  BOOST_TEST(run("", Stage::fit, 4) == 5U);
  const int threads = thread_count();
  set_thread_count(threads + 1);
  BOOST_TEST(run("", Stage::fit, 4) == 6U);
  set_thread_count(threads);
  BOOST_TEST(run("", Stage::fit, 4) == 6U);
}

BOOST_AUTO_TEST_SUITE_END()
