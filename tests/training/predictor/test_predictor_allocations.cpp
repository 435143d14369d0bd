// Allocations of calls, counted by a replacement of operator new.
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cstdlib>
#include <new>

#include <mezzo/mezzo.hpp>

#include "support/tensors.hpp"

namespace {

std::atomic<bool> counting{false};
std::atomic<std::int64_t> allocations{0};

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (counting) ++allocations;
  void* pointer = std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
  if (pointer == nullptr) throw std::bad_alloc();
  return pointer;
}

}  // namespace

// Not inlined: GCC would warn that free() doesn't match ::operator new.
[[gnu::noinline]] void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* pointer) noexcept { std::free(pointer); }
[[gnu::noinline]] void operator delete(void* pointer, std::size_t) noexcept { std::free(pointer); }
[[gnu::noinline]] void operator delete(void* pointer, std::align_val_t) noexcept { std::free(pointer); }
[[gnu::noinline]] void operator delete(void* pointer, std::size_t, std::align_val_t) noexcept { std::free(pointer); }

using namespace mezzo;
using namespace mezzo_tests;

namespace {

template <class Call>
std::int64_t allocations_of(Call call) {
  call();  // the first one on a thread makes the thread's state
  allocations = 0;
  counting = true;
  for (int i = 0; i < 3; ++i) call();
  counting = false;
  return allocations;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(predictor_allocations)

BOOST_AUTO_TEST_CASE(allocations_are_counted_at_all) {
  BOOST_TEST(allocations_of([] { Tensor({4}).copy(); }) >= 6);
}

BOOST_AUTO_TEST_CASE(calls_into_memory_of_the_caller_allocate_nothing) {
  // oneDNN, which computes larger products of float32, allocates in each of its calls.
  Sequential model({Input({8}), Dense({.units = 6, .activation = "relu"}), BatchNormalization(), Dropout({.rate = 0.5}),
                    Dense({.units = 3, .activation = "softmax"})},
                   {.dtype = "float64"});
  const Predictor predictor = model.predictor({.batch_sizes = {1, 8}, .workers = 2});
  const Tensor one = random_tensor({1, 8}, DType::float64, 1), eight = random_tensor({8, 8}, DType::float64, 2);
  Tensor y({1, 3}, DType::float64);
  BOOST_TEST(allocations_of([&] { predictor(one, y); }) == 0);
  const std::vector<Tensor> xs{eight};
  std::vector<Tensor> ys{Tensor({8, 3}, DType::float64)};
  BOOST_TEST(allocations_of([&] { predictor(xs, ys); }) == 0);
  std::vector<double> numbers(24);
  BOOST_TEST(allocations_of([&] { predictor(eight, numbers.data(), numbers.size() * sizeof(double)); }) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
