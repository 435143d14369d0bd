#include <mezzo/layers/flatten.hpp>

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
  BOOST_TEST(refused<ShapeError>([] {
               Flatten().build({-1, -1, 3});
             }) == "[Flatten] all axes but the first must have known sizes; got shape (?, ?, 3)");
}

BOOST_AUTO_TEST_SUITE_END()
