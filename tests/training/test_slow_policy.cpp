#include <boost/test/unit_test.hpp>

#include <mezzo/compiler/product_rates.hpp>
#include <mezzo/training/step/slow_policy.hpp>

#include "small.hpp"
#include "support/captured.hpp"
#include "support/environment.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr const char* variable = "MEZZO_WARN_SLOW_POLICY";

Sequential small(const Policy& policy = {}) {
  seed_everything(3);
  Sequential model({Dense({.units = 4, .activation = "relu"}), Dropout({.rate = 0.2}), Dense({.units = 1})},
                   {.dtype = policy});
  model.compile({.optimizer = Adam(), .loss = "mse"});
  return model;
}

DataLoader loader() {
  return DataLoader(Dataset::from_tensors({{"x", random_tensor({40, 3}, DType::float32, 1, -1, 1)},
                                           {"y", random_tensor({40, 1}, DType::float32, 2, -1, 1), Role::target}}),
                    {.batch_size = 4, .shuffle = true});
}

Trainer quiet(Precision precision, int epochs) {
  return Trainer({.max_epochs = epochs, .precision = std::move(precision), .enable_progress_bar = false});
}

std::string notice(DType dtype) {
  const Support support = dtype_support(dtype);
  if (support == Support::native) return "";
  return std::string("[Trainer] ") + dtype_name(dtype) + " is " + (support == Support::absent ? "absent" : "emulated") +
         " on this CPU: its products are computed in float32, between casts\n";
}

/// Counts the runs of its step.
class Counting : public Module {
 public:
  Counting() : Module("Counting") {}
  Value training_step(const Batch& batch) override {
    const Value x = host(
        [this](const Tensor& numbers) {
          ++*runs;
          return numbers;
        },
        batch["x"]);
    return mean(abs(dense_(x) - batch["y"]));
  }
  OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD()}}; }

  std::shared_ptr<int> runs = std::make_shared<int>(0);

 private:
  Dense dense_ = sub("dense", Dense({.units = 1}));
};

}  // namespace

BOOST_AUTO_TEST_SUITE(slow_policy)

BOOST_AUTO_TEST_CASE(a_dtype_that_the_cpu_lacks_is_told_of_once_for_a_model) {
  const Environment on(variable, "1");
  const struct {
    Precision precision;
    DType dtype;
  } cases[] = {
      {"bf16", DType::bfloat16}, {"bf16-true", DType::bfloat16}, {16, DType::float16}, {OpLists(), DType::bfloat16}};
  for (const auto& c : cases) {
    Sequential model = small();
    const CapturedOutput output;
    quiet(c.precision, 1).fit(model, loader());
    BOOST_TEST(output.text() == notice(c.dtype));
    quiet(c.precision, 1).fit(model, loader());
    BOOST_TEST(output.text() == notice(c.dtype));
  }
}

BOOST_AUTO_TEST_CASE(a_dtype_of_a_single_layer_is_told_of) {
  const Environment on(variable, "1");
  Sequential model({Dense({.units = 2}), Dense({.units = 1, .dtype = "mixed_bfloat16"})});
  model.compile({.loss = "mse"});
  const CapturedOutput output;
  model.fit(loader(), {.verbose = false});
  BOOST_TEST(output.text() == notice(DType::bfloat16));
}

BOOST_AUTO_TEST_CASE(float32_and_the_variable_tell_nothing) {
  const CapturedOutput output;
  {
    const Environment on(variable, "1");
    Sequential model = small();
    quiet(32, 1).fit(model, loader());
  }
  const Environment off(variable, "0");
  Sequential model = small();
  quiet("bf16", 30).fit(model, loader());
  BOOST_TEST(output.text() == "");
}

BOOST_AUTO_TEST_CASE(the_warning_has_both_times_of_a_step) {
  BOOST_TEST(detail::slowness("mixed_float16", 3e-3, 2e-3) ==
             "mixed_float16 is slower than float32 for this model on this CPU: a step takes 3 ms, in float32 2 ms "
             "(measured); precision \"auto\" measures the model and picks");
  BOOST_TEST(detail::slowness("mixed_float16", 2.1e-3, 2e-3).empty());
  BOOST_TEST(detail::slowness("mixed_bfloat16", 1e-3, 2e-3).empty());
  BOOST_TEST(detail::slowness("mixed_float16", {}, 2e-3).empty());
  BOOST_TEST(detail::slowness("mixed_float16", 3e-3, {}).empty());
}

// 30 epochs of 10 steps are enough for a measurement.
BOOST_AUTO_TEST_CASE(the_measurement_changes_no_training) {
  const struct {
    Policy own;
    Precision precision;
    const char* measured;  // policy
  } cases[] = {{{}, "bf16", "mixed_bfloat16"},
               {{}, "bf16-true", "bfloat16"},
               {{}, 16, "mixed_float16"},
               {"mixed_bfloat16", {}, "mixed_bfloat16"},
               {"bfloat16", {}, "bfloat16"}};
  for (const auto& c : cases) {
    Sequential measured = small(c.own), plain = small(c.own);
    History with, without;
    {
      const CapturedOutput output;
      const Environment on(variable, "1");
      seed_everything(3);
      with = quiet(c.precision, 30).fit(measured, loader());
      BOOST_TEST(detail::training_state(measured).notices.has(c.measured));
    }
    seed_everything(3);
    without = quiet(c.precision, 30).fit(plain, loader());
    BOOST_TEST((with.history == without.history));
    for (std::size_t i = 0; i < plain.weights().size(); ++i) {
      BOOST_TEST(measured.weights()[i].value().equal(plain.weights()[i].value()), plain.weights()[i].name());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_step_that_calls_the_users_code_is_not_measured) {
  const Environment on(variable, "1");
  Counting module;
  const CapturedOutput output;
  quiet("bf16", 30).fit(module, loader());
  BOOST_TEST(*module.runs == 300);
}

BOOST_AUTO_TEST_SUITE_END()
