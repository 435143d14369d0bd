// Allocations of compiled steps, counted by a replacement of operator new.
#include <boost/test/unit_test.hpp>

#include <mezzo/core/tuning.hpp>
#include <mezzo/mezzo.hpp>

#include "support/allocations.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(step_allocations)

BOOST_AUTO_TEST_CASE(a_run_with_a_plan_allocates_nothing) {
  set_yield_when_busy(false);  // its second team of threads allocates, when other programs take the processors
  Sequential model({Conv2D({.filters = 3, .kernel_size = 3, .activation = "relu"}), BatchNormalization(), Flatten(),
                    Dropout(0.5), Dense(3)},
                   {.dtype = "float64"});  // without oneDNN, which allocates
  model.build({-1, 6, 6, 2});
  AdamW optimizer({.learning_rate = CosineDecay({.initial_learning_rate = 1e-3, .decay_steps = 9})});
  GradScaler scaler;
  StepFunction step = compile_step([&](const Values& batch) {
    const auto [loss, gradients] = value_and_grad(model, [&] {
      return scaler.scale(SparseCategoricalCrossentropy({.from_logits = true})(batch[1], model(batch[0])));
    });
    scaler.step(optimizer, gradients);
    scaler.update();
    return loss;
  });
  const std::vector<detail::StepInput> batch{random_tensor({4, 6, 6, 2}, DType::float32, 1), Tensor({4}, DType::int64)};
  double sum = 0;
  for (int i = 0; i < 3; ++i) sum += step(batch)[0].data<double>()[0];
  const std::int64_t counted = allocations_of([&] {
    for (int i = 0; i < 3; ++i) sum += step(batch)[0].data<double>()[0];
  });
  BOOST_TEST(counted == 0);
  BOOST_TEST(step.plans() == 1U);
  BOOST_TEST(sum > 0);
  set_yield_when_busy(true);
}

BOOST_AUTO_TEST_SUITE_END()
