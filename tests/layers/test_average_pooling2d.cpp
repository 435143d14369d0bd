#include <mezzo/layers/pooling/average_pooling2d.hpp>

#include "parity.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(average_pooling2d)

BOOST_AUTO_TEST_CASE(equals_keras) {
  check_recorded("average_pooling", [] { return AveragePooling2D(); });
  check_recorded("average_pooling_same",
                 [] { return AveragePooling2D({.pool_size = 3, .strides = 2, .padding = "same"}); });
  check_recorded("average_pooling_rectangular", [] {
    return AveragePooling2D({.pool_size = {2, 3}, .strides = {1, 2}});
  });
}

BOOST_AUTO_TEST_CASE(padding_by_numbers_counts_as_torchs) {
  const Tensor x({1, 2, 2, 1}, std::vector<float>{4, 8, 12, 16});
  const Value counted = AveragePooling2D({.pool_size = 2, .padding = 1})(Value(x));
  BOOST_TEST((counted.shape() == Shape{1, 2, 2, 1}));
  BOOST_TEST(counted.tensor().to_doubles() == (std::vector<double>{1, 2, 3, 4}), boost::test_tools::per_element());
  const Tensor odd({1, 3, 1, 1}, std::vector<float>{4, 8, 12});
  const Value same = AveragePooling2D({.pool_size = {2, 1}, .padding = "same"})(Value(odd));
  BOOST_TEST(same.tensor().to_doubles() == (std::vector<double>{6, 12}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  BOOST_TEST(refused<ValueError>([] { AveragePooling2D({.pool_size = 0}); }) ==
             "[AveragePooling2D] pool_size must be one or two numbers of at least 1; got (0,)");
  BOOST_TEST(refused<ValueError>([] {
               AveragePooling2D({.strides = {1, 2, 3}});
             }) == "[AveragePooling2D] strides must be one or two numbers of at least 1; got (1, 2, 3)");
  AveragePooling2D layer({.pool_size = 3, .name = "pool"});
  BOOST_TEST(refused<ShapeError>([&] {
               layer(Value(Tensor({2, 2, 5, 1})));
             }) == "[AveragePooling2D \"pool\"] input axis 1 must be at least 3 (pool_size 3); got shape (2, 2, 5, 1)");
}

BOOST_AUTO_TEST_SUITE_END()
