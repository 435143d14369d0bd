#include <boost/test/unit_test.hpp>

#include <type_traits>

#include <mezzo/graph/trace.hpp>
#include <mezzo/ops/ops.hpp>

#include "support/tensors.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

static_assert(!std::is_constructible_v<bool, Value>, "a Value is no condition");

BOOST_AUTO_TEST_SUITE(value)

BOOST_AUTO_TEST_CASE(an_undefined_one_has_no_numbers) {
  BOOST_TEST(!Value().defined());
  check_throws<ValueError>("[Value] must hold an array or the output of an op; got an undefined Value",
                           [] { Value().tensor(); });
}

BOOST_AUTO_TEST_CASE(a_concrete_one_is_its_array) {
  const Tensor array({2}, std::vector<std::int32_t>{3, 4});
  const Value value = array;
  BOOST_TEST(value.defined());
  BOOST_TEST(!value.symbolic());
  BOOST_TEST(value.shape() == Shape{2}, boost::test_tools::per_element());
  BOOST_TEST((value.dtype() == DType::int32));
  BOOST_TEST(value.tensor().equal(array));
  BOOST_TEST(Value(Tensor({1}, std::vector<float>{2.5F})).item() == 2.5);
  BOOST_CHECK_THROW(value.item(), ShapeError);
}

BOOST_AUTO_TEST_CASE(a_symbol_says_that_it_has_no_numbers_and_what_to_do) {
  Trace trace(Trace::Mode::graph);
  const Value x = trace.input("x", Spec{{2, 3}, DType::float32});
  const Value y = x + x;
  BOOST_TEST(y.symbolic());
  BOOST_TEST(y.shape() == (Shape{2, 3}), boost::test_tools::per_element());
  const std::string text =
      "[add] a symbolic Value (output of add) has no numbers while the step is traced: log() it, or return it";
  check_throws<ValueError>(text, [&] { y.tensor(); });
  check_throws<ValueError>(text, [&] { y.item(); });
}

BOOST_AUTO_TEST_CASE(a_symbol_names_the_layer_that_made_it) {
  Trace trace(Trace::Mode::graph);
  const Value x = trace.input("x", Spec{{2}, DType::float32});
  const Value y = [&] {
    const detail::Scope scope(
        {std::make_shared<detail::ScopeInfo>(detail::ScopeInfo{"Dense", "head", {}, true}), "dense_1"});
    return exp(x);
  }();
  check_throws<ValueError>(
      "[Dense \"head\"] a symbolic Value (output of exp) has no numbers while the step is traced: log() it, or return "
      "it",
      [&] { y.tensor(); });
}

BOOST_AUTO_TEST_CASE(numbers_are_weak) {
  for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16, DType::float16}) {
    const Value x = Tensor({3}, dtype);
    for (const Value& y : {x + 1.5, 1.5 * x, x - 2, 2.0F / (x + 1)}) BOOST_TEST((y.dtype() == dtype));
  }
  const Value counts = Tensor({3}, DType::uint8);
  BOOST_TEST(((counts + 1).dtype() == DType::uint8));
  BOOST_TEST(((counts * 0.5).dtype() == DType::float32));
  BOOST_TEST(((Value(Tensor({3}, DType::boolean)) * 2).dtype() == DType::int64));
}

BOOST_AUTO_TEST_CASE(numbers_are_rounded_once_and_to_the_other_operands_dtype) {
  const double third = 1.0 / 3;
  BOOST_TEST((Value(float64_scalar(1)) * third).item() == third);
  BOOST_TEST((Value(Tensor::scalar(1)) * third).item() == static_cast<double>(static_cast<float>(third)));
  const double above = 1 + 0x1p-8 + 0x1p-40;  // as a float32 first, it would be a tie, and go down to 1
  BOOST_TEST((Value(Tensor::scalar(1, DType::bfloat16)) * above).item() == 1 + 0x1p-7);
}

BOOST_AUTO_TEST_CASE(identity) {
  const Tensor array({6});
  BOOST_TEST(Value(array).same_as(Value(array)));
  BOOST_TEST(!Value(array).same_as(Value(array.reshape({2, 3}))));
  BOOST_TEST(!Value(array).same_as(Value(array.copy())));
  BOOST_TEST(Value().same_as(Value()));
  BOOST_TEST(!Value().same_as(Value(array)));
  Trace trace(Trace::Mode::graph);
  const Value x = trace.input("x", Spec{{2}, DType::float32});
  BOOST_TEST(x.same_as(x.across_border()));
  BOOST_TEST(!x.same_as(-x));
}

BOOST_AUTO_TEST_CASE(ops_take_borders_away) {
  const Value x = Value(Tensor({2})).across_border();
  BOOST_TEST(x.crosses_border());
  BOOST_TEST(!x.across_border(false).crosses_border());
  const detail::PolicyScope scope("mixed_bfloat16");
  const Value y = x + 1;
  BOOST_TEST((y.dtype() == DType::bfloat16));
  BOOST_TEST(!y.crosses_border());
  BOOST_TEST(((Value(Tensor({2})) + 1).dtype() == DType::float32));
}

BOOST_AUTO_TEST_SUITE_END()
