#include <mezzo/layers/reshaping/zero_padding2d.hpp>

#include <mezzo/nn/input.hpp>

#include "parity.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(zero_padding2d)

BOOST_AUTO_TEST_CASE(equals_keras) {
  check_recorded("zero_padding", [] { return ZeroPadding2D(); });
  check_recorded("zero_padding_of_two", [] { return ZeroPadding2D({.padding = {2, 1}}); });
  check_recorded("zero_padding_of_four", [] { return ZeroPadding2D({.padding = {{1, 0}, {2, 3}}}); });
}

BOOST_AUTO_TEST_CASE(leaves_an_unknown_batch_alone) {
  const Value y = ZeroPadding2D()(Input({.shape = {4, 5, 2}}));
  BOOST_TEST((y.shape() == Shape{-1, 6, 7, 2}));
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  const std::string numbers = "[ZeroPadding2D] padding must be one, two or two pairs of numbers of at least 0; got ";
  BOOST_TEST(refused<ValueError>([] { ZeroPadding2D({.padding = {1, -1}}); }) == numbers + "(1, -1)");
  BOOST_TEST(refused<ValueError>([] { ZeroPadding2D({.padding = {1, 2, 3}}); }) == numbers + "(1, 2, 3)");
  ZeroPadding2D layer({.name = "pad"});
  BOOST_TEST(refused<ShapeError>([&] {
               layer(Value(Tensor({5, 5, 1})));
             }) ==
             "[ZeroPadding2D \"pad\"] input must have rank 4 (batch, height, width, channels); got shape (5, 5, 1): "
             "add a batch axis if this is one sample");
}

BOOST_AUTO_TEST_SUITE_END()
