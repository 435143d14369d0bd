#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <mezzo/core/error.hpp>
#include <mezzo/ops/numpy.hpp>
#include <mezzo/ops/ops.hpp>
#include <mezzo/training/model/model.hpp>

#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const Tensor bytes({4}, std::vector<std::uint8_t>{0, 1, 200, 255});

std::vector<double> numbers(const Value& x) { return x.tensor().to_doubles(); }

Tensor halves() { return Tensor({5}, std::vector<float>{-INFINITY, -65504, 0, 65504, INFINITY}).cast(DType::float16); }

using Binary = Value (*)(const Value&, const Value&);

}  // namespace

BOOST_AUTO_TEST_SUITE(number_range)

BOOST_AUTO_TEST_CASE(comparisons_are_exact_for_numbers_beyond_the_dtype) {
  const std::vector<double> none(4, 0), all(4, 1);
  for (const double beyond : {300.0, 256.0, 1e6}) {
    const int n = static_cast<int>(beyond);
    BOOST_TEST(numbers(bytes < n) == all);
    BOOST_TEST(numbers(bytes <= n) == all);
    BOOST_TEST(numbers(bytes > n) == none);
    BOOST_TEST(numbers(bytes >= n) == none);
    BOOST_TEST(numbers(n < Value(bytes)) == none);
    BOOST_TEST(numbers(equal(bytes, n)) == none);
    BOOST_TEST(numbers(not_equal(n, bytes)) == all);
    BOOST_TEST(numbers(bytes < -n) == none);
    BOOST_TEST(numbers(bytes <= -n) == none);
    BOOST_TEST(numbers(bytes > -n) == all);
    BOOST_TEST(numbers(bytes >= -n) == all);
    BOOST_TEST(numbers(-n <= Value(bytes)) == all);
  }
  BOOST_TEST(numbers(bytes > -1) == all);
  BOOST_TEST(numbers(bytes >= 255) == (std::vector<double>{0, 0, 0, 1}));
  BOOST_TEST(numbers(bytes < 255) == (std::vector<double>{1, 1, 1, 0}));
}

BOOST_AUTO_TEST_CASE(comparisons_of_infinities_with_numbers_beyond_float16) {
  const Tensor v = halves();
  BOOST_TEST(numbers(v < 1e9) == (std::vector<double>{1, 1, 1, 1, 0}));
  BOOST_TEST(numbers(v <= 1e9) == (std::vector<double>{1, 1, 1, 1, 0}));
  BOOST_TEST(numbers(v > 1e9) == (std::vector<double>{0, 0, 0, 0, 1}));
  BOOST_TEST(numbers(v >= 1e9) == (std::vector<double>{0, 0, 0, 0, 1}));
  BOOST_TEST(numbers(v < -1e9) == (std::vector<double>{1, 0, 0, 0, 0}));
  BOOST_TEST(numbers(v >= -1e9) == (std::vector<double>{0, 1, 1, 1, 1}));
  BOOST_TEST(numbers(equal(v, 1e9)) == (std::vector<double>(5, 0)));
  BOOST_TEST(numbers(equal(v, INFINITY)) == (std::vector<double>{0, 0, 0, 0, 1}));
}

BOOST_AUTO_TEST_CASE(extremes_take_numbers_that_are_never_the_result) {
  BOOST_TEST(numbers(clip(bytes, -5, 200)) == (std::vector<double>{0, 1, 200, 200}));
  BOOST_TEST(numbers(clip(bytes, 10, 300)) == (std::vector<double>{10, 10, 200, 255}));
  BOOST_TEST((clip(bytes, -5, 300).dtype() == DType::uint8));
  BOOST_TEST(numbers(maximum(-5, bytes)) == bytes.to_doubles());
  BOOST_TEST(numbers(fmin(bytes, 300)) == bytes.to_doubles());
  BOOST_TEST(numbers(clip(halves(), -1e9, 0)) == (std::vector<double>{-INFINITY, -65504, 0, 0, 0}));
  check_throws<ValueError>(
      "[maximum] a number of dtype uint8 must lie in [0, 255]; got 300 (cast the operands to a wider dtype)",
      [] { clip(bytes, 300, 400); });
  check_throws<ValueError>(
      "[minimum] a number of dtype uint8 must lie in [0, 255]; got -1 (cast the operands to a wider dtype)",
      [] { minimum(bytes, -1); });
}

BOOST_AUTO_TEST_CASE(other_ops_refuse_numbers_beyond_the_dtype) {
  const Tensor v = halves();
  check_throws<ValueError>(
      "[add] a number of dtype float16 must lie in [-65504, 65504] or be infinite; got -1000000000 "
      "(cast the operands to a wider dtype; a mask may be where(mask, x, -65504))",
      [&] { v + -1e9; });
  check_throws<ValueError>(
      "[where] a number of dtype float16 must lie in [-65504, 65504] or be infinite; got 70000 (cast the operands to a "
      "wider dtype; a mask may be where(mask, x, 65504))",
      [&] { where(v > 0, v, 70000); });
  check_throws<ValueError>(
      "[multiply] a number of dtype uint8 must lie in [0, 255]; got 1000 (cast the operands to a wider dtype)",
      [] { bytes * 1000; });
  check_throws<ValueError>(
      "[full] a number of dtype uint8 must lie in [0, 255]; got 300 (cast the operands to a wider dtype)",
      [] { full_like(bytes, 300); });
  BOOST_CHECK_THROW(Value(Tensor({1})) * 1e39, ValueError);
  BOOST_TEST(numbers(v + -INFINITY)[2] == -INFINITY);
  BOOST_TEST(numbers(Value(bytes) + 300.0)[0] == 300);  // a floating number makes floats of integers
  BOOST_TEST(numbers(isin(bytes, 300)) == (std::vector<double>(4, 0)));
  // Numbers that round to a finite one are held: 65519 is 65504.
  BOOST_TEST(numbers(Value(v) * 0 + 65519)[2] == 65504);
}

BOOST_AUTO_TEST_CASE(functional_models_compare_exactly) {
  const Value x = Input({4}, {.dtype = "uint8"});
  Model model(x, cast(logical_and(x<300, x> - 1), DType::float32));
  const Tensor rows({1, 4}, std::vector<std::uint8_t>{0, 1, 200, 255});
  BOOST_TEST(model.predict(rows).to_doubles() == (std::vector<double>(4, 1)));
}

BOOST_AUTO_TEST_CASE(numbers_do_not_widen_any_binary_op) {
  const std::vector<std::pair<const char*, Binary>> ops{
      {"add", add},
      {"arctan2", arctan2},
      {"divide", divide},
      {"divide_no_nan", divide_no_nan},
      {"floor_divide", floor_divide},
      {"fmax", fmax},
      {"fmin", fmin},
      {"fmod", fmod},
      {"heaviside", heaviside},
      {"hypot", hypot},
      {"ldexp", ldexp},
      {"logaddexp", logaddexp},
      {"logaddexp2", logaddexp2},
      {"maximum", maximum},
      {"minimum", minimum},
      {"mod", mod},
      {"multiply", multiply},
      {"nextafter", nextafter},
      {"power", power},
      {"subtract", subtract},
      {"where", [](const Value& a, const Value& b) { return where(Tensor({2}, DType::boolean), a, b); }},
  };
  const Tensor x({2}, std::vector<float>{1.5F, 2});
  for (const auto& op : ops) {
    for (const DType dtype : {DType::bfloat16, DType::float16, DType::float32, DType::float64}) {
      const Value array(x.cast(dtype));
      for (const Value& number : {Value(2.0), Value(3)}) {
        BOOST_TEST((op.second(array, number).dtype() == dtype), op.first << " " << dtype_name(dtype));
        BOOST_TEST((op.second(number, array).dtype() == dtype), op.first << " reversed " << dtype_name(dtype));
        const auto expected = numbers(op.second(array, number.tensor().cast(dtype)));
        BOOST_TEST(numbers(op.second(array, number)) == expected, op.first);
      }
    }
  }
  BOOST_TEST(numbers(divide_no_nan(x, 0)) == (std::vector<double>{0, 0}));
}

BOOST_AUTO_TEST_SUITE_END()
