#include <mezzo/layers/merging/concatenate.hpp>

#include <mezzo/mezzo.hpp>

#include "parity.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(concatenate)

BOOST_AUTO_TEST_CASE(equals_keras) {
  check_recorded("concatenate", [] { return Concatenate(); });
  check_recorded("concatenate_axis_1", [] { return Concatenate({.axis = 1}); });
}

BOOST_AUTO_TEST_CASE(each_input_is_cast) {
  const Value joined = Concatenate({.dtype = "mixed_bfloat16"})({Tensor({2}), Tensor({3}, DType::float64)});
  BOOST_TEST((joined.dtype() == DType::bfloat16));
  BOOST_TEST((joined.shape() == Shape{5}));
}

BOOST_AUTO_TEST_CASE(joins_branches_of_a_functional_graph) {
  const Input x({.shape = {3}});
  const Values pieces = split(x, {1, 2});
  Model model({.inputs = {x}, .outputs = {Concatenate()({pieces[1], pieces[0]})}});
  const Value y = model(Value(Tensor({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6})));
  BOOST_TEST(y.tensor().to_doubles() == (std::vector<double>{2, 3, 1, 5, 6, 4}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  Concatenate layer({.name = "join"});
  BOOST_TEST(refused<ShapeError>([&] {
               layer({Tensor({2, 3}), Tensor({4, 3})});
             }) == "[Concatenate \"join\"] inputs must have equal sizes on all axes except 1; got (2, 3) and (4, 3)");
  BOOST_TEST(refused<ShapeError>([&] {
               Concatenate({.axis = 2})({Tensor({2, 3}), Tensor({2, 3})});
             }) == "[Concatenate] axis must lie in [-2, 2); got 2");
}

BOOST_AUTO_TEST_SUITE_END()
