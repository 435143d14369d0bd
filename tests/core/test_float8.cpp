#include <boost/test/unit_test.hpp>

#include <cmath>
#include <sstream>
#include <vector>

#include <mezzo/core/convert.hpp>
#include <mezzo/core/error.hpp>
#include <mezzo/core/finfo.hpp>
#include <mezzo/core/float_bits.hpp>
#include <mezzo/core/tensor.hpp>

#include "support/recorded.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

template <class T, class Bits>
T number(Bits bits) {
  T out{};
  static_assert(sizeof(T) == sizeof(Bits));
  std::memcpy(&out, &bits, sizeof bits);
  return out;
}

template <class T, class Bits>
std::vector<T> numbers(const nlohmann::json& list) {
  std::vector<T> out;
  for (const Bits bits : list.get<std::vector<Bits>>()) out.push_back(number<T>(bits));
  return out;
}

template <class F>
bool is_nan(F x) {
  return std::isnan(static_cast<float>(x));
}

template <class F>
void check_like_ml_dtypes() {
  const DType dtype = DTypeOf<F>::value;
  const auto& expected = recorded("number_formats").at(dtype_name(dtype));
  const auto decoded = numbers<float, std::uint32_t>(expected.at("numbers"));
  int wrong = 0;
  for (std::size_t i = 0; i < decoded.size(); ++i) {
    F x;
    x.bits = static_cast<std::uint8_t>(i);
    const auto y = static_cast<float>(x);
    wrong += std::isnan(y) ? !std::isnan(decoded[i]) : detail::bits_of(y) != detail::bits_of(decoded[i]);
  }
  BOOST_TEST(wrong == 0);
  const auto inputs = numbers<float, std::uint32_t>(expected.at("inputs"));
  const auto codes = expected.at("codes").get<std::vector<std::uint8_t>>();
  BOOST_TEST_REQUIRE(codes.size() == inputs.size());
  for (std::size_t i = 0; i < codes.size(); ++i) {
    F code;
    code.bits = codes[i];
    const F rounded = convert<F>(inputs[i]);
    if (is_nan(code) ? !is_nan(rounded) : rounded.bits != codes[i]) {
      BOOST_ERROR(dtype_name(dtype) << " of " << inputs[i] << " is " << int{rounded.bits} << ", not " << int{codes[i]});
    }
  }
  const FInfo info = finfo(dtype);
  BOOST_TEST(info.bits == 8);
  BOOST_TEST(info.eps == expected.at("finfo").at("eps").get<double>());
  BOOST_TEST(info.max == expected.at("finfo").at("max").get<double>());
  BOOST_TEST(info.min == expected.at("finfo").at("min").get<double>());
  BOOST_TEST(info.smallest_normal == expected.at("finfo").at("smallest_normal").get<double>());
  BOOST_TEST(info.smallest_subnormal == expected.at("finfo").at("smallest_subnormal").get<double>());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(float8)

BOOST_AUTO_TEST_CASE(numbers_and_roundings_are_those_of_ml_dtypes) {
  check_like_ml_dtypes<float8_e4m3fn>();
  check_like_ml_dtypes<float8_e5m2>();
}

// By way of float32, 1.1875 (1 - 2^-40) would become 1.1875, which is halfway and rounds up to even.
BOOST_AUTO_TEST_CASE(doubles_and_integers_round_once) {
  const double less = 1 - 0x1p-40, more = 1 + 0x1p-40;
  BOOST_TEST(static_cast<float>(convert<float8_e4m3fn>(1.1875 * less)) == 1.125F);
  BOOST_TEST(static_cast<float>(convert<float8_e4m3fn>(1.1875 * more)) == 1.25F);
  BOOST_TEST(static_cast<float>(convert<float8_e4m3fn>(1.0625 * more)) == 1.125F);
  BOOST_TEST(static_cast<float>(convert<float8_e5m2>(1.375 * less)) == 1.25F);
  BOOST_TEST(static_cast<float>(convert<float8_e5m2>(1.125 * more)) == 1.25F);
  BOOST_TEST(static_cast<float>(convert<float8_e5m2>(std::int64_t{17})) == 16);
  BOOST_TEST(static_cast<float>(convert<float8_e5m2>(std::int64_t{19})) == 20);
}

BOOST_AUTO_TEST_CASE(tensors_are_cast_from_and_to_all_dtypes) {
  const std::vector<double> exact{-2, 0, 0.5, 3};
  for (const DType narrow : {DType::float8_e4m3fn, DType::float8_e5m2}) {
    for (const DType other :
         {DType::float32, DType::float64, DType::bfloat16, DType::float16, DType::float8_e4m3fn, DType::float8_e5m2}) {
      const Tensor x = Tensor({4}, exact).cast(other).cast(narrow);
      BOOST_TEST((x.dtype() == narrow));
      BOOST_TEST(x.bytes() == 4U);
      BOOST_TEST((x.to_doubles() == exact));
      BOOST_TEST((x.cast(other).to_doubles() == exact));
    }
    const Tensor x = Tensor({4}, exact).cast(narrow);
    BOOST_TEST((x.cast(DType::int32).to_doubles() == std::vector<double>{-2, 0, 0, 3}));
    BOOST_TEST((x.cast(DType::boolean).to_doubles() == std::vector<double>{1, 0, 1, 1}));
    BOOST_TEST(
        (Tensor({2}, std::vector<std::int64_t>{3, -40}).cast(narrow).to_doubles() == std::vector<double>{3, -40}));
    BOOST_TEST(Tensor::scalar(2.5, narrow).item() == 2.5);
    BOOST_TEST(x.equal(x.copy()));
    BOOST_TEST(!x.equal(Tensor({4}, exact)));
  }
}

BOOST_AUTO_TEST_CASE(printed_as_numbers) {
  std::ostringstream out;
  out << Tensor({2}, std::vector<float>{448, -0.5F}).cast(DType::float8_e4m3fn);
  BOOST_TEST(out.str() == "float8_e4m3fn (2,)\n[ 448. ,   -0.5]");
}

BOOST_AUTO_TEST_SUITE_END()
