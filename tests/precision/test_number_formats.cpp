// The tables of docs/number_formats.md are made from the numbers of the library. MEZZO_WRITE_DOCS=1 writes them.
#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <mezzo/core/dynamic_code.hpp>
#include <mezzo/mezzo.hpp>
#include <mezzo/precision/mx_element.hpp>
#include <mezzo/precision/nf4.hpp>

#include "support/paths.hpp"

using namespace mezzo;

namespace {

// "$2^{-14}$", a formula of Markdown, for powers of two below 1, else decimal digits.
std::string text_of(double x) {
  int exponent = 0;
  if (x < 1 && std::frexp(x, &exponent) == 0.5) return fmt::format("$2^{{{}}}$", exponent - 1);
  return x < 1e6 ? fmt::format("{}", x) : fmt::format("{:.3g}", x);
}

std::string float_table() {
  struct Row {
    DType dtype;
    const char* use;
  };
  const std::vector<Row> rows{
      {DType::float64, "checks of gradients"},
      {DType::float32, "variables, sums, statistics, losses"},
      {DType::bfloat16, "products and activations of mixed_bfloat16"},
      {DType::float16, "products and activations of mixed_float16"},
      {DType::float8_e4m3fn, "storage; operands of products in training in float8; elements of mxfp8_e4m3"},
      {DType::float8_e5m2, "storage; gradients in training in float8; elements of mxfp8_e5m2"}};
  std::string out =
      "| format | sign, exponent, mantissa | largest | step at 1 | smallest normal | smallest | used for |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const Row& row : rows) {
    const FInfo info = finfo(row.dtype);
    const int mantissa = -std::ilogb(info.eps);
    out += fmt::format("| {} | 1, {}, {} | {} | {} | {} | {} | {} |\n", dtype_name(row.dtype), info.bits - 1 - mantissa,
                       mantissa, text_of(info.max), text_of(info.eps), text_of(info.smallest_normal),
                       text_of(info.smallest_subnormal), row.use);
  }
  return out;
}

std::string block_table() {
  std::string out =
      "| format | element | block | scale | bits an element | largest element | used for |\n"
      "|---|---|---|---|---|---|---|\n";
  for (const detail::MXElement& element : detail::mx_elements()) {
    const int bits = 1 + element.exponent_bits + element.mantissa + (element.exponent_bits == 0 ? 1 : 0);
    const std::string text = element.exponent_bits == 0
                                 ? std::string("8-bit integer / 64")
                                 : fmt::format("float, 1, {}, {}", element.exponent_bits, element.mantissa);
    out += fmt::format("| {} | {} | 32 | 8 bits, a power of two | {} | {} | emulation: fake_quantize_mx |\n",
                       element.name, text, bits + 8.0 / 32, element.max);
  }
  out += fmt::format("| NF4 | one of 16 numbers | {} | float32 | {} | {} | weights: nf4_encode |\n", nf4_block,
                     4 + 32.0 / static_cast<double>(nf4_block), static_cast<double>(nf4_values.back()));
  constexpr auto block = static_cast<double>(detail::DynamicCode::block);
  out += fmt::format("| dynamic 8 bits | one of 256 numbers | {} | float32 | {} | 1 | optimizer states |\n", block,
                     8 + 32 / block);
  return out;
}

// Replaces the part between the markers of a table.
std::string with_table(const std::string& text, const std::string& name, const std::string& table) {
  const std::string begin = "<!-- table: " + name + " -->\n", end = "<!-- end: " + name + " -->";
  const std::size_t from = text.find(begin), to = text.find(end);
  BOOST_TEST_REQUIRE((from != text.npos && to != text.npos));
  return text.substr(0, from + begin.size()) + table + text.substr(to);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(number_formats)

BOOST_AUTO_TEST_CASE(the_tables_of_the_page_have_the_numbers_of_the_library) {
  const auto path = mezzo_tests::tests_dir().parent_path() / "docs" / "number_formats.md";
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  const std::string made = with_table(with_table(text.str(), "floats", float_table()), "blocks", block_table());
  if (std::getenv("MEZZO_WRITE_DOCS") != nullptr) std::ofstream(path) << made;
  BOOST_TEST(made == text.str(), "run test_precision --run_test=number_formats with MEZZO_WRITE_DOCS=1");
}

BOOST_AUTO_TEST_CASE(float8_is_no_dtype_of_computations) {
  for (const DType dtype : {DType::float8_e4m3fn, DType::float8_e5m2}) {
    const Tensor x = Tensor({2}, std::vector<float>{1, -0.5F}).cast(dtype);
    BOOST_CHECK_THROW(add(Value(x), Value(x)), Error);
    BOOST_CHECK_THROW(Policy{dtype}, Error);
    BOOST_CHECK_THROW(Policy(dtype_name(dtype)), Error);
    BOOST_CHECK_THROW(random::uniform({2}, {.dtype = dtype}), Error);
    BOOST_CHECK_THROW(random::normal({2}, {.dtype = dtype}), Error);
    BOOST_CHECK_THROW(Dense({.units = 2, .dtype = Policy(dtype)})(Value(Tensor({1, 2}))), Error);
  }
}

BOOST_AUTO_TEST_CASE(casts_to_float8_are_ops) {
  const Tensor x({4}, std::vector<float>{0.1F, 300, 1e6F, -3});
  for (const DType dtype : {DType::float8_e4m3fn, DType::float8_e5m2}) {
    BOOST_TEST(cast(Value(x), dtype).tensor().equal(x.cast(dtype)));
    BOOST_TEST(cast(cast(Value(x), dtype), DType::bfloat16).tensor().equal(x.cast(dtype).cast(DType::bfloat16)));
    const auto loss = [&](const Value& a) { return sum(cast(cast(a, dtype), DType::float32) * Value(x)); };
    BOOST_TEST(grad(loss)(Value(x)).tensor().equal(x));
    const auto twice = [&](const Value& a) {
      const Value narrow = cast(a, dtype);
      return sum(cast(narrow, DType::float32) + cast(cast(narrow, DType::bfloat16), DType::float32));
    };
    BOOST_TEST((grad(twice)(Value(x)).tensor().to_doubles() == std::vector<double>{2, 2, 2, 2}));
  }
}

BOOST_AUTO_TEST_SUITE_END()
