// Allocations of calls, counted by a replacement of operator new.
#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "support/allocations.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

template <class Call>
std::int64_t allocations_of_three(Call call) {
  call();  // the first one on a thread makes the thread's state
  return allocations_of([&] {
    for (int i = 0; i < 3; ++i) call();
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(predictor_allocations)

BOOST_AUTO_TEST_CASE(allocations_are_counted_at_all) {
  BOOST_TEST(allocations_of_three([] { Tensor({4}).copy(); }) >= 6);
}

BOOST_AUTO_TEST_CASE(calls_into_memory_of_the_caller_allocate_nothing) {
  // oneDNN, which computes larger products of float32, allocates in each of its calls.
  Sequential model({Input({8}), Dense({.units = 6, .activation = "relu"}), BatchNormalization(), Dropout({.rate = 0.5}),
                    Dense({.units = 3, .activation = "softmax"})},
                   {.dtype = "float64"});
  const Predictor predictor = model.predictor({.batch_sizes = {1, 8}, .workers = 2});
  const Tensor one = random_tensor({1, 8}, DType::float64, 1), eight = random_tensor({8, 8}, DType::float64, 2);
  Tensor y({1, 3}, DType::float64);
  BOOST_TEST(allocations_of_three([&] { predictor(one, y); }) == 0);
  const std::vector<Tensor> xs{eight};
  std::vector<Tensor> ys{Tensor({8, 3}, DType::float64)};
  BOOST_TEST(allocations_of_three([&] { predictor(xs, ys); }) == 0);
  std::vector<double> numbers(24);
  BOOST_TEST(allocations_of_three([&] { predictor(eight, numbers.data(), numbers.size() * sizeof(double)); }) == 0);
}

BOOST_AUTO_TEST_SUITE_END()
