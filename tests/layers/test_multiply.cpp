#include <mezzo/layers/merging/multiply.hpp>

#include "parity.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(multiply)

BOOST_AUTO_TEST_CASE(equals_keras) {
  check_recorded("multiply", [] { return Multiply(); });
}

BOOST_AUTO_TEST_CASE(each_input_is_cast) {
  const Value product = Multiply({.dtype = "mixed_bfloat16"})({Tensor({2}), Tensor({2}, DType::float64)});
  BOOST_TEST((product.dtype() == DType::bfloat16));
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  Multiply layer({.name = "join"});
  BOOST_TEST(refused<ValueError>([&] { layer({Tensor({2})}); }) ==
             "[Multiply \"join\"] takes at least two inputs; got 1");
  BOOST_TEST(refused<ShapeError>([&] {
               layer({Tensor({2, 3}), Tensor({2, 4})});
             }) == "[Multiply \"join\"] shapes must be equal or 1 on axis -1; got (2, 3) and (2, 4)");
}

BOOST_AUTO_TEST_SUITE_END()
