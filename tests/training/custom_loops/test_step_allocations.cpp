// Allocations of compiled steps, counted by a replacement of operator new.
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cstdlib>
#include <new>

#include <mezzo/core/tuning.hpp>
#include <mezzo/mezzo.hpp>

#include "support/tensors.hpp"

namespace {

std::atomic<bool> counts{false};
std::atomic<std::int64_t> counted{0};

void* allocated(std::size_t bytes, std::size_t alignment) {
  if (counts) ++counted;
  void* const pointer = std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
  if (pointer == nullptr) throw std::bad_alloc();
  return pointer;
}

}  // namespace

// Not inlined: GCC would warn that free() doesn't match ::operator new.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return allocated(bytes, alignof(std::max_align_t)); }
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocated(bytes, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocated(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* pointer) noexcept { std::free(pointer); }
[[gnu::noinline]] void operator delete(void* pointer, std::size_t) noexcept { std::free(pointer); }
[[gnu::noinline]] void operator delete(void* pointer, std::align_val_t) noexcept { std::free(pointer); }
[[gnu::noinline]] void operator delete(void* pointer, std::size_t, std::align_val_t) noexcept { std::free(pointer); }

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
  counted = 0;
  counts = true;
  for (int i = 0; i < 3; ++i) sum += step(batch)[0].data<double>()[0];
  counts = false;
  BOOST_TEST(counted == 0);
  BOOST_TEST(step.plans() == 1U);
  BOOST_TEST(sum > 0);
  set_yield_when_busy(true);
}

BOOST_AUTO_TEST_SUITE_END()
