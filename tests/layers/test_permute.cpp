#include <mezzo/layers/reshaping/permute.hpp>

#include <numeric>

#include <mezzo/nn/input.hpp>

#include "parity.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// 0, 1, 2, ... in the given shape.
Tensor counting(const Shape& shape) {
  std::vector<float> numbers(static_cast<std::size_t>(element_count(shape)));
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  return {shape, numbers};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(permute)

BOOST_AUTO_TEST_CASE(axes_of_samples_are_permuted) {
  const Value y = Permute({.dims = {2, 1}})(Value(counting({2, 2, 3})));
  BOOST_TEST((y.shape() == Shape{2, 3, 2}));
  BOOST_TEST(y.tensor().to_doubles() == (std::vector<double>{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11}));
}

// Keras: axis i of the output is axis dims[i - 1] of the input, not the other way round.
BOOST_AUTO_TEST_CASE(dims_name_axes_of_the_input) {
  const Value y = Permute({.dims = {3, 1, 2}})(Value(counting({1, 2, 3, 2})));
  BOOST_TEST((y.shape() == Shape{1, 2, 2, 3}));
  BOOST_TEST(y.tensor().to_doubles() == (std::vector<double>{0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11}));
}

BOOST_AUTO_TEST_CASE(gradients_are_permuted_back) {
  Permute layer({.dims = {3, 1, 2}});
  const LayerRun run = run_layer(layer, {counting({1, 2, 3, 2})}, counting({1, 2, 2, 3}), true);
  const std::vector<double> expected{0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11};
  BOOST_TEST(run.input_gradients[0].to_doubles() == expected);
}

BOOST_AUTO_TEST_CASE(integers_and_an_unknown_batch_stay) {
  const Value y = Permute({.dims = {2, 1}, .dtype = "mixed_bfloat16"})(Value(Tensor({2, 3, 4}, DType::uint8)));
  BOOST_TEST((y.dtype() == DType::uint8));
  BOOST_TEST((Permute({.dims = {2, 1}})(Input({.shape = {3, 4}})).shape() == Shape{-1, 4, 3}));
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  const std::string numbers = "[Permute] dims must hold each of 1, 2, ..., n once; got ";
  BOOST_TEST(refused<ValueError>([] { Permute(); }) == numbers + "()");
  BOOST_TEST(refused<ValueError>([] { Permute({.dims = {0, 1}}); }) == numbers + "(0, 1)");
  BOOST_TEST(refused<ValueError>([] { Permute({.dims = {1, 1}}); }) == numbers + "(1, 1)");
  BOOST_TEST(refused<ValueError>([] { Permute({.dims = {-1, 1, 3}}); }) == numbers + "(-1, 1, 3)");
  Permute layer({.dims = {2, 1}, .name = "swap"});
  BOOST_TEST(refused<ShapeError>([&] {
               layer(Value(Tensor({4, 5})));
             }) ==
             "[Permute \"swap\"] input must have rank 3 (batch and one axis per entry of dims); got shape (4, 5): add "
             "a batch axis if this is one sample");
}

BOOST_AUTO_TEST_SUITE_END()
