#include <mezzo/layers/activations/leaky_relu.hpp>
#include <mezzo/layers/pooling/global_average_pooling1d.hpp>
#include <mezzo/layers/reshaping/flatten.hpp>
#include <mezzo/layers/reshaping/reshape.hpp>
#include <mezzo/nn/input.hpp>

#include "parity.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(flatten)

BOOST_AUTO_TEST_CASE(equals_keras) {
  check_recorded("flatten", [] { return Flatten(); });
  check_recorded("flatten_rank_1", [] { return Flatten(); });
}

BOOST_AUTO_TEST_CASE(integers_stay_integers) {
  const Value y = Flatten({.dtype = "mixed_bfloat16"})(Value(Tensor({2, 3, 4}, DType::uint8)));
  BOOST_TEST((y.dtype() == DType::uint8));
  BOOST_TEST((y.shape() == Shape{2, 12}));
}

BOOST_AUTO_TEST_CASE(an_empty_batch_and_empty_rows_keep_their_shapes) {
  BOOST_TEST((Flatten()(Value(Tensor({0, 3, 4}))).shape() == Shape{0, 12}));
  BOOST_TEST((Flatten()(Value(Tensor({5, 0, 4}))).shape() == Shape{5, 0}));
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  BOOST_TEST(refused<ShapeError>([] { Flatten()(Value(Tensor::scalar(1))); }) ==
             "[Flatten] input must have rank 1 or more; got shape ()");
}

BOOST_AUTO_TEST_CASE(reshape_equals_keras) {
  check_recorded("reshape", [] { return Reshape({2, -1, 1}); });
  check_recorded("global_average_pooling1d", [] { return GlobalAveragePooling1D(); });
  check_recorded("global_average_pooling1d_keepdims", [] { return GlobalAveragePooling1D({.keepdims = true}); });
  check_recorded("leaky_relu", [] { return LeakyReLU(); });
  check_recorded("leaky_relu_slope", [] { return LeakyReLU(0.1); });
  BOOST_TEST((Reshape({3, -1})(Input({4, 6})).shape() == Shape{-1, 3, 8}));
  BOOST_TEST((Reshape({2, -1})(Value(Tensor({3, 0, 2}))).shape() == Shape{3, 2, 0}));
  BOOST_TEST(refused<ValueError>([] {
               Reshape({-1, -1});
             }) == "[Reshape] target_shape must have sizes of at least 0, and -1 once at most; got (-1, -1)");
  BOOST_TEST(refused<ShapeError>([] {
               Reshape({5, -1})(Value(Tensor({2, 4})));
             }) == "[Reshape] samples must have the number of elements of target_shape (5, -1); got shape (2, 4)");
  BOOST_TEST(refused<ValueError>([] { LeakyReLU(-1); }) == "[LeakyReLU] negative_slope must not be negative; got -1");
  BOOST_TEST(refused<ShapeError>([] {
               GlobalAveragePooling1D()(Value(Tensor({2, 4})));
             }) ==
             "[GlobalAveragePooling1D] input must have rank 3 (batch, steps, features); got shape (2, 4): add a batch "
             "axis if this is one sample");
}

BOOST_AUTO_TEST_SUITE_END()
