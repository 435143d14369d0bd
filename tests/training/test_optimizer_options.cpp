// Optimizers and their options in whole trainings.
#include <boost/test/unit_test.hpp>

#include "checkpoint_runs.hpp"
#include "support/captured.hpp"
#include "support/kernels.hpp"
#include "support/layers.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using Make = Any<Optimizer> (*)();

struct Kind {
  const char* name;
  Make make;
};

// An epoch has three steps, so that one is accumulated at its end.
const std::vector<Kind> kinds{
    {"adadelta", [] { return Any<Optimizer>(Adadelta(1.0)); }},
    {"adafactor", [] { return Any<Optimizer>(Adafactor(0.1)); }},
    {"adagrad", [] { return Any<Optimizer>(Adagrad(0.1, {.use_ema = true})); }},
    {"adamax", [] { return Any<Optimizer>(Adamax(0.03, {.gradient_accumulation_steps = 2})); }},
    {"amsgrad", [] { return Any<Optimizer>(Adam(0.03, {.amsgrad = true})); }},
    {"ftrl", [] { return Any<Optimizer>(Ftrl(0.1)); }},
    {"lamb", [] { return Any<Optimizer>(Lamb(0.03, {.weight_decay = 0.01})); }},
    {"lars", [] { return Any<Optimizer>(LARS(0.3, {.trust_coefficient = 0.1, .always_adapt = true})); }},
    {"lion", [] { return Any<Optimizer>(Lion(0.01)); }},
    {"muon", [] { return Any<Optimizer>(Muon(0.03)); }},
    {"nadam",
     [] {
       return Any<Optimizer>(Nadam(0.03, {.use_ema = true,
                                          .ema_momentum = 0.5,
                                          .ema_overwrite_frequency = 2,
                                          .gradient_accumulation_steps = 2,
                                          .groups = {{.match = ".*bias", .learning_rate_factor = 0.5}}}));
     }},
    {"rmsprop", [] { return Any<Optimizer>(RMSprop(0.01, {.momentum = 0.5, .centered = true})); }},
    {"schedule_free_adamw", [] { return Any<Optimizer>(ScheduleFreeAdamW(0.03)); }},
    {"sgd", [] { return Any<Optimizer>(SGD(0.1, {.global_clipnorm = 0.5, .gradient_accumulation_steps = 2})); }},
};

// Two steps of two samples each are a step of four, if the loss is a mean. The model has no dropout or statistics.
struct Small {
  explicit Small(const Any<Optimizer>& what, const char* policy = "float64")
      : optimizer(what), model(with_weights_of(policy)) {
    model.compile({.optimizer = optimizer, .loss = MeanSquaredError()});
  }

  static Sequential with_weights_of(const char* policy) {
    seed_everything(5);
    return Sequential({Dense({.units = 3, .activation = "relu", .dtype = policy}),
                       Dense({.units = 2, .name = "last", .dtype = policy})});
  }

  History fit(int epochs, int batch_size, std::int64_t samples = 8, bool eager = false) {
    const Tensor x = random_tensor({samples, 4}, DType::float32, 1), y = random_tensor({samples, 2}, DType::float32, 2);
    const DataLoader loader(Dataset::from_tensors({{"x", x, Role::input}, {"y", y, Role::target}}),
                            {.batch_size = batch_size, .workers = 0});
    return Trainer({.max_epochs = epochs, .enable_progress_bar = false, .eager = eager}).fit(model, loader);
  }

  Any<Optimizer> optimizer;
  Sequential model;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(optimizer_options)

BOOST_AUTO_TEST_CASE(every_optimizer_is_resumed_bit_for_bit) {
  const CapturedOutput warnings;
  const Folder folder;
  for (const Kind& kind : kinds) {
    for (const char* policy : {"float32", "mixed_bfloat16"}) {
      const Way way{.policy = policy};
      Run uninterrupted(way, kind.make());
      uninterrupted.fit(3);
      Run begun(way, kind.make());
      begun.fit(1);
      const std::string file = begun.save(folder, "one_epoch");
      Run resumed(way, kind.make(), 7);
      resumed.fit(3, file);
      BOOST_TEST_CONTEXT(kind.name << " in " << policy) {
        BOOST_TEST(changed_since(values_of(uninterrupted.model), resumed.model) == "");
        BOOST_TEST(resumed.optimizer->iterations() == uninterrupted.optimizer->iterations());
        const auto slots = uninterrupted.optimizer->variables(), again = resumed.optimizer->variables();
        BOOST_TEST_REQUIRE(slots.size() == again.size());
        BOOST_TEST(resumed.optimizer->iterations() > 0);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(accumulated_gradients_equal_those_of_a_larger_batch) {
  for (const bool eager : {false, true}) {
    Small whole(SGD(0.1, {.momentum = 0.9, .global_clipnorm = 0.1}));
    whole.fit(2, 4, 8, eager);
    Small parts(SGD(0.1, {.momentum = 0.9, .global_clipnorm = 0.1, .gradient_accumulation_steps = 2}));
    parts.fit(2, 2, 8, eager);
    BOOST_TEST(parts.optimizer->iterations() == 4);
    const auto a = values_of(whole.model), b = values_of(parts.model);
    for (const auto& [name, numbers] : a) BOOST_TEST(largest_difference(numbers, b.at(name)) < 1e-14);
  }
}

BOOST_AUTO_TEST_CASE(a_short_last_batch_counts_as_a_step_of_the_window) {
  Small small(SGD(0.1, {.gradient_accumulation_steps = 2}));
  small.fit(1, 3, 7);  // 3, 3 and 1 samples
  BOOST_TEST(small.optimizer->iterations() == 1);
  BOOST_TEST(small.optimizer->state()->accumulated == 1);
  Small two(SGD(0.1, {.gradient_accumulation_steps = 2}));
  two.fit(2, 3, 7);
  BOOST_TEST(two.optimizer->iterations() == 3);
  BOOST_TEST(two.optimizer->state()->accumulated == 0);
}

BOOST_AUTO_TEST_CASE(fit_of_a_model_ends_with_the_averages) {
  Small small(SGD(0.1, {.use_ema = true, .ema_momentum = 0.5}), "float32");
  small.model.fit(random_tensor({8, 4}), random_tensor({8, 2}, DType::float32, 2), {.batch_size = 4});
  for (const Optimizer::Slots& slots : small.optimizer->state()->slots) {
    BOOST_TEST(slots.variable->value.equal(slots.values.back()->value));
  }
}

BOOST_AUTO_TEST_CASE(averages_of_half_precision_variables_are_float32) {
  const CapturedOutput warnings;
  for (const char* policy : {"bfloat16", "float16", "mixed_bfloat16", "mixed_float16"}) {
    Small small(RMSprop(0.01, {.use_ema = true, .gradient_accumulation_steps = 2}), policy);
    small.fit(2, 2);
    BOOST_TEST(small.optimizer->iterations() > 0);
    for (const Optimizer::Slots& slots : small.optimizer->state()->slots) {
      for (const auto& slot : slots.values) BOOST_TEST((slot->value.dtype() == DType::float32));
    }
  }
}

BOOST_AUTO_TEST_CASE(frozen_variables_have_no_slots) {
  Small small(Lamb(0.01));
  small.model.build({1, 4});
  small.model.get_layer("last").set_trainable(false);
  const Tensor before = small.model.get_layer("last").weights()[0].value();
  small.fit(1, 4);
  BOOST_TEST(small.optimizer->state()->slots.size() == 2U);
  BOOST_TEST(small.model.get_layer("last").weights()[0].value().equal(before));
}

BOOST_AUTO_TEST_CASE(a_group_without_variables_is_refused) {
  Small small(SGD(0.1, {.groups = {{.match = ".*bais"}}}));
  BOOST_TEST(
      refused<ValueError>([&] { small.fit(1, 4); }) ==
      "[SGD] every group must match a variable; got \".*bais\", which matches none of: dense/kernel, dense/bias, "
      "last/kernel, last/bias");
}

BOOST_AUTO_TEST_CASE(a_learning_rate_that_was_set_is_saved) {
  const Folder folder;
  Run begun({}, SGD(0.1));
  begun.fit(1);
  begun.optimizer->set_learning_rate(0.025);
  Run resumed({}, SGD(0.1), 7);
  resumed.fit(2, begun.save(folder, "set"));
  BOOST_TEST(resumed.optimizer->learning_rate() == 0.025);
}

BOOST_AUTO_TEST_CASE(training_with_swapped_weights_is_refused) {
  Small small(SGD(0.1, {.use_ema = true}));
  small.fit(1, 4);
  small.optimizer->swap_averages();
  BOOST_TEST(refused<ValueError>([&] {
               small.model.fit(random_tensor({8, 4}), random_tensor({8, 2}), {.batch_size = 4});
             }) == "[SGD] weights must be swapped back by swap_averages() before training goes on; got their averages");
}

BOOST_AUTO_TEST_SUITE_END()
