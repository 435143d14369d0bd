#include <boost/test/unit_test.hpp>

#include <mezzo/training/step/step_runner.hpp>

#include "small.hpp"
#include "support/layers.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using detail::StepRunner;

namespace {

Sequential model_of(const char* policy) {
  seed_everything(9);
  Sequential model({Conv2D({.filters = 3, .kernel_size = 3, .padding = "same", .activation = "relu"}),
                    BatchNormalization(), MaxPooling2D(), Flatten(), Dropout({.rate = 0.3}),
                    Dense({.units = 4, .activation = "relu"}), Dense({.units = 3})},
                   {.dtype = policy});
  model.compile({.optimizer = Adam({.learning_rate = 0.01, .global_clipnorm = 1}),
                 .loss = SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {"accuracy"}});
  return model;
}

HostBatch batch_of(std::int64_t size) {
  std::vector<float> pixels;
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < size; ++i) {
    for (std::uint64_t p = 0; p < 32; ++p) pixels.push_back(unit_float(philox(1, static_cast<std::uint64_t>(i), p)[0]));
    labels.push_back(i % 3);
  }
  return {{{"x", Tensor({size, 4, 4, 2}, pixels)}, {"y", Tensor({size}, labels), Role::target}}, size};
}

/// Numbers logged by three training steps and a validation step.
std::vector<double> run(Sequential& model, detail::RunOptions options) {
  std::vector<double> out;
  StepRunner runner(model, options);
  const HostBatch batch = batch_of(6);
  runner.rehearse(Stage::fit, batch);
  runner.configure(false);
  for (const Stage phase : {Stage::fit, Stage::fit, Stage::fit, Stage::validate}) {
    runner.run(phase, batch);
    for (std::size_t i = 0; i < runner.logged().size(); ++i) out.push_back(runner.value(i));
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(eager)

BOOST_AUTO_TEST_CASE(it_equals_the_plan_bit_for_bit_without_fusion) {
  for (const char* policy : {"float32", "mixed_bfloat16", "mixed_float16", "bfloat16", "float16", "float64"}) {
    Sequential traced = model_of(policy);
    const std::vector<double> expected = run(traced, {.passes = {.fuse = false}});
    Sequential eager = model_of(policy);
    const std::vector<double> actual = run(eager, {.eager = true});
    BOOST_TEST_CONTEXT(policy) {
      BOOST_TEST(actual == expected, boost::test_tools::per_element());
      BOOST_TEST(changed_since(values_of(traced), eager) == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(it_equals_the_fused_plan_within_rounding) {
  for (const char* policy : {"float32", "float64"}) {
    Sequential traced = model_of(policy);
    const std::vector<double> expected = run(traced, {});
    Sequential eager = model_of(policy);
    const std::vector<double> actual = run(eager, {.eager = true});
    BOOST_TEST_CONTEXT(policy) {
      BOOST_TEST(actual == expected, boost::test_tools::tolerance(1e-4) << boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
