#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <locale>
#include <sstream>

#include <mezzo/core/tensor.hpp>

using namespace mezzo;

namespace {

std::string printed(const Tensor& tensor) {
  std::ostringstream out;
  out << tensor;
  return out.str();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(print)

BOOST_AUTO_TEST_CASE(columns_are_aligned) {
  BOOST_TEST(printed(Tensor({2, 2}, std::vector<float>{1, 2.5F, -3, 1.0F / 3})) ==
             "float32 (2, 2)\n[[ 1.      ,  2.5     ],\n [-3.      ,  0.333333]]");
  BOOST_TEST(printed(Tensor({2, 1, 2}, std::vector<std::int32_t>{1, 2, -30, 4})) ==
             "int32 (2, 1, 2)\n[[[  1,   2]],\n [[-30,   4]]]");
  BOOST_TEST(printed(Tensor({2}, std::vector<bool>{true, false})) == "bool (2,)\n[ true, false]");
  BOOST_TEST(printed(Tensor({2}, std::vector<std::int8_t>{65, -128})) == "int8 (2,)\n[  65, -128]");
  BOOST_TEST(printed(Tensor({2}, std::vector<float>{1.5F, 2}).cast(DType::bfloat16)) == "bfloat16 (2,)\n[ 1.5,  2. ]");
  BOOST_TEST(printed(Tensor({2}, std::vector<float>{1.5F, 2}).cast(DType::float16)) == "float16 (2,)\n[ 1.5,  2. ]");
}

BOOST_AUTO_TEST_CASE(any_shape_and_number_is_printed) {
  BOOST_TEST(printed(Tensor({}, std::vector<double>{5})) == "float64 ()\n5.");
  BOOST_TEST(printed(Tensor({}, std::vector<double>{std::nan("")})) == "float64 ()\nnan");
  BOOST_TEST(printed(Tensor({0, 3})) == "float32 (0, 3)\n[]");
  BOOST_TEST(printed(Tensor({1}, std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min()})) ==
             "int64 (1,)\n[-9223372036854775808]");
  BOOST_TEST(printed(Tensor({2}, std::vector<double>{1e-10, 1})) == "float64 (2,)\n[ 1.000000e-10,  1.000000e+00]");
}

BOOST_AUTO_TEST_CASE(large_tensors_are_summarised) {
  Tensor all({1001}, DType::int16);
  for (std::int16_t i = 0; i < 1001; ++i) all.mutable_data<std::int16_t>()[i] = i;
  BOOST_TEST(printed(all) == "int16 (1001,)\n[   0,    1,    2, ...,  998,  999, 1000]");
  const std::string rows = printed(all.reshape({143, 7}));
  BOOST_TEST(rows.find(",\n ...,\n [ 980,") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_streams_precision_counts) {
  std::ostringstream out;
  out << std::setprecision(3) << Tensor({1}, std::vector<float>{2.0F / 3}) << ' ' << 2.0 / 3;
  BOOST_TEST(out.str() == "float32 (1,)\n[ 0.667] 0.667");
}

BOOST_AUTO_TEST_CASE(the_locale_does_not_count) {
  struct German : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const Tensor numbers({2, 2}, std::vector<float>{1234.5F, 2, -3.25F, 123456});
  const Tensor whole({2}, std::vector<std::int32_t>{1234567, 2});
  const std::string before = printed(numbers), before_whole = printed(whole);
  const std::locale classic = std::locale::global(std::locale(std::locale::classic(), new German));
  const std::string text = printed(numbers), text_whole = printed(whole);
  std::locale::global(classic);
  const auto without_spaces = [](std::string s) {
    s.erase(std::remove(s.begin(), s.end(), ' '), s.end());
    return s;
  };
  BOOST_TEST(without_spaces(text) == without_spaces(before));
  BOOST_TEST(text_whole == before_whole);
}

BOOST_AUTO_TEST_SUITE_END()
