#include <mezzo/layers/merging/add.hpp>

#include "parity.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(add)

BOOST_AUTO_TEST_CASE(equals_keras) {
  check_recorded("add", [] { return Add(); });
}

BOOST_AUTO_TEST_CASE(each_input_is_cast) {
  const Value sum = Add({.dtype = "mixed_bfloat16"})({Tensor({2}), Tensor({2}, DType::float64)});
  BOOST_TEST((sum.dtype() == DType::bfloat16));
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  Add layer({.name = "join"});
  BOOST_TEST(refused<ValueError>([&] { layer({Tensor({2})}); }) == "[Add \"join\"] takes at least two inputs; got 1");
  BOOST_TEST(refused<ShapeError>([&] {
               layer({Tensor({2, 3}), Tensor({2, 4})});
             }) == "[Add \"join\"] shapes must be equal or 1 on axis -1; got (2, 3) and (2, 4)");
}

BOOST_AUTO_TEST_SUITE_END()
