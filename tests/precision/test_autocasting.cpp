#include <boost/test/unit_test.hpp>

#include <mezzo/precision/autocast.hpp>

using namespace mezzo;

namespace {

constexpr DType f32 = DType::float32, f64 = DType::float64, bf16 = DType::bfloat16, f16 = DType::float16;
constexpr DType i64 = DType::int64, u8 = DType::uint8, boolean = DType::boolean;

struct Case {
  const char* what;
  detail::CastRule rule;
  std::vector<detail::Operand> operands;
  DType compute;
  std::vector<DType> expected;
};

constexpr bool border = true, weak = true;

const Case cases[] = {
    {"layer input and variable", {}, {{f32, border}, {f32, border}}, bf16, {bf16, bf16}},
    {"inside a layer nothing is cast down", {}, {{f32}, {f32}}, bf16, {f32, f32}},
    {"the widest wins inside a layer", {}, {{bf16}, {f32}}, bf16, {f32, f32}},
    {"neither half holds the other", {}, {{bf16}, {f16}}, bf16, {f32, f32}},
    {"border, then widest", {}, {{f32, border}, {f32}}, bf16, {f32, f32}},
    {"a border raises too", {}, {{bf16, border}}, f64, {f64}},
    {"float scalars are weak", {}, {{bf16}, {f64, false, weak}}, bf16, {bf16, bf16}},
    {"int scalars are weak", {}, {{f16}, {i64, false, weak}}, bf16, {f16, f16}},
    {"integers stay", {}, {{u8, border}, {u8, border}}, bf16, {u8, u8}},
    {"integers with an int scalar stay", {}, {{u8, border}, {i64, false, weak}}, bf16, {u8, u8}},
    {"integers with a float scalar become floats", {}, {{u8, border}, {f32, false, weak}}, bf16, {bf16, bf16}},
    {"integers in a float op become floats", {{Cast::promote}, true}, {{u8, border}}, f16, {f16}},
    {"bools in a float op become floats", {{Cast::promote}, true}, {{boolean}}, f32, {f32}},
    {"integers meet floats", {}, {{i64}, {bf16}}, bf16, {bf16, bf16}},
    {"integers of several widths meet", {}, {{u8}, {i64}}, bf16, {i64, i64}},
    {"a bool with an int scalar becomes an integer", {}, {{boolean}, {i64, false, weak}}, bf16, {i64, i64}},
    {"a bool with a float scalar becomes a float", {}, {{boolean}, {f64, false, weak}}, f16, {f16, f16}},
    {"a float64 array of the user's is cast as any float", {}, {{f64, border}}, f32, {f32}},
    {"a float64 made inside stays", {}, {{f64}, {bf16, border}}, f16, {f64, f64}},
    {"a wide variable with a weak scalar", {}, {{f32, border}, {f64, false, weak}}, f64, {f64, f64}},
    {"float scalars alone", {}, {{f64, false, weak}, {i64, false, weak}}, bf16, {bf16, bf16}},
    {"int scalars alone", {}, {{i64, false, weak}, {i64, false, weak}}, bf16, {i64, i64}},
    {"int scalars alone in a float op", {{Cast::promote}, true}, {{i64, false, weak}}, bf16, {bf16}},
    {"labels beside scores", {{Cast::keep, Cast::compute}}, {{i64, border}, {f32, border}}, f16, {i64, f16}},
    {"a kept float scalar makes no floats",
     {{Cast::promote, Cast::keep}},
     {{i64}, {f64, false, weak}},
     bf16,
     {i64, f64}},
    {"a kept scalar", {{Cast::compute, Cast::keep}}, {{f32, border}, {f64, false, weak}}, bf16, {bf16, f64}},
    {"kept operands are untouched", {{Cast::compute, Cast::keep}}, {{f32, border}, {f32, border}}, bf16, {bf16, f32}},
    {"the last rule repeats", {{Cast::keep}}, {{i64, border}, {f32, border}, {f64}}, bf16, {i64, f32, f64}},
    {"compute alone doesn't promote", {{Cast::compute}}, {{f32, border}, {f64}}, bf16, {bf16, f64}},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(autocasting)

BOOST_AUTO_TEST_CASE(table) {
  for (const Case& row : cases) {
    const std::vector<DType> actual = autocast(row.rule, row.operands, row.compute);
    BOOST_TEST_CONTEXT(row.what) {
      BOOST_REQUIRE_EQUAL(actual.size(), row.expected.size());
      for (std::size_t i = 0; i < actual.size(); ++i) BOOST_TEST(dtype_name(actual[i]) == dtype_name(row.expected[i]));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
