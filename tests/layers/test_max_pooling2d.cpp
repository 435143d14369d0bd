#include <mezzo/layers/pooling/max_pooling2d.hpp>

#include "parity.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(max_pooling2d)

BOOST_AUTO_TEST_CASE(equals_keras) {
  check_recorded("max_pooling", [] { return MaxPooling2D(); });
  check_recorded("max_pooling_same", [] { return MaxPooling2D({.pool_size = 3, .strides = 2, .padding = "same"}); });
  check_recorded("max_pooling_rectangular", [] { return MaxPooling2D({.pool_size = {2, 3}, .strides = {1, 2}}); });
}

BOOST_AUTO_TEST_CASE(padding_is_minus_infinity) {
  const Tensor x({1, 2, 2, 1}, std::vector<float>{-4, -3, -2, -1});
  const Value y = MaxPooling2D({.pool_size = 2, .padding = 1})(Value(x));
  BOOST_TEST((y.shape() == Shape{1, 2, 2, 1}));
  BOOST_TEST(y.tensor().to_doubles() == x.to_doubles());
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  BOOST_TEST(refused<ValueError>([] { MaxPooling2D({.pool_size = 0}); }) ==
             "[MaxPooling2D] pool_size must be one or two numbers of at least 1; got (0,)");
  BOOST_TEST(refused<ValueError>([] {
               MaxPooling2D({.strides = {1, 2, 3}});
             }) == "[MaxPooling2D] strides must be one or two numbers of at least 1; got (1, 2, 3)");
  MaxPooling2D layer({.pool_size = 3, .name = "pool"});
  BOOST_TEST(refused<ShapeError>([&] {
               layer(Value(Tensor({2, 5, 5})));
             }) ==
             "[MaxPooling2D \"pool\"] input must have rank 4 (batch, height, width, channels); got shape (2, 5, 5): "
             "add a batch axis if this is one sample");
  BOOST_TEST(refused<ShapeError>([&] {
               layer(Value(Tensor({2, 2, 5, 1})));
             }) == "[MaxPooling2D \"pool\"] input axis 1 must be at least 3 (pool_size 3); got shape (2, 2, 5, 1)");
}

BOOST_AUTO_TEST_SUITE_END()
