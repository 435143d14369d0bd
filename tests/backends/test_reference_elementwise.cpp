#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

#include "support/kernels.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<double> apply(const std::string& op, const std::vector<Tensor>& inputs) {
  return run_reference(op, {}, inputs).front().to_doubles();
}

Tensor doubles(const std::vector<double>& x) { return {Shape{static_cast<std::int64_t>(x.size())}, x}; }

void check_equal(const std::vector<double>& got, const std::vector<double>& expected) {
  BOOST_REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool same = std::isnan(expected[i]) ? std::isnan(got[i]) : got[i] == expected[i];
    BOOST_TEST(same, "element " << i << ": " << got[i] << ", expected " << expected[i]);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reference_elementwise)

BOOST_AUTO_TEST_CASE(functions_of_one_operand) {
  const std::vector<double> x{-2, -0.5, 0, 0.25, 3, infinity, not_a_number};
  check_equal(apply("relu", {doubles(x)}), {0, 0, 0, 0.25, 3, infinity, not_a_number});
  check_equal(apply("negative", {doubles(x)}), {2, 0.5, 0, -0.25, -3, -infinity, not_a_number});
  check_equal(apply("abs", {doubles(x)}), {2, 0.5, 0, 0.25, 3, infinity, not_a_number});
  check_equal(apply("sign", {doubles(x)}), {-1, -1, 0, 1, 1, 1, not_a_number});
  check_equal(apply("exp", {doubles(x)}),
              {std::exp(-2.0), std::exp(-0.5), 1, std::exp(0.25), std::exp(3.0), infinity, not_a_number});
  check_equal(apply("log", {doubles(x)}),
              {not_a_number, not_a_number, -infinity, std::log(0.25), std::log(3.0), infinity, not_a_number});
}

BOOST_AUTO_TEST_CASE(float32_agrees_with_float64) {
  const Tensor x = random_tensor({3, 50}, DType::float32, 1, 0.1, 4);
  for (const char* op : {"relu", "exp", "log", "negative", "abs", "sign"}) {
    const Tensor narrow = run_reference(op, {}, {x}).front();
    BOOST_TEST(dtype_name(narrow.dtype()) == std::string("float32"));
    BOOST_TEST(largest_difference(narrow, run_reference(op, {}, {x.cast(DType::float64)}).front()) < 2e-7, op);
  }
}

BOOST_AUTO_TEST_CASE(gradient_of_relu_is_by_its_output) {
  check_equal(apply("relu_gradient", {doubles({0, 2, 0, 1, not_a_number}), doubles({1, 2, 3, not_a_number, 5})}),
              {0, 2, 0, not_a_number, 0});
}

BOOST_AUTO_TEST_CASE(relu_with_a_most_has_no_gradient_at_both_limits) {
  const Attributes six{{"max_value", 6.0}};
  check_equal(
      run_reference("relu", six, {doubles({-2, 0, 3, 6, 7, infinity, -infinity, not_a_number})}).front().to_doubles(),
      {0, 0, 3, 6, 6, 6, 0, not_a_number});
  check_equal(
      run_reference("relu_gradient", six, {doubles({0, 2, 6, 5.75, not_a_number}), doubles({1, 2, 3, not_a_number, 5})})
          .front()
          .to_doubles(),
      {0, 2, 0, not_a_number, 0});
}

BOOST_AUTO_TEST_CASE(arithmetic_with_broadcasting) {
  const Tensor a = small_integers({4, 1, 3}, DType::float64, 1), b = small_integers({2, 3}, DType::float64, 2);
  const std::vector<double> x = a.to_doubles(), y = b.to_doubles();
  const char* ops[] = {"add", "subtract", "multiply", "divide"};
  for (int k = 0; k < 4; ++k) {
    const Tensor out = run_reference(ops[k], {}, {a, b}).front();
    BOOST_REQUIRE((out.shape() == Shape{4, 2, 3}));
    const std::vector<double> got = out.to_doubles();
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double p = x[i / 6 * 3 + i % 3], q = y[i % 6];
      const double expected[] = {p + q, p - q, p * q, p / q};
      BOOST_TEST((got[i] == expected[k] || std::isnan(expected[k])));
    }
  }
}

BOOST_AUTO_TEST_CASE(broadcasting_shapes) {
  const std::vector<std::pair<Shape, Shape>> pairs{{{5}, {}},        {{}, {}},         {{1}, {7}},
                                                   {{2, 3}, {2, 1}}, {{2, 1}, {1, 3}}, {{1, 4}, {3, 1, 1}},
                                                   {{0, 3}, {3}},    {{2, 0}, {1, 1}}};
  for (const auto& [left, right] : pairs) {
    const Tensor a = small_integers(left, DType::float32, 1), b = small_integers(right, DType::float32, 2);
    const Shape shape = broadcast(left, right, "test");
    const Tensor wide_a = run_reference("broadcast_to", {{"shape", shape}}, {a}).front();
    const Tensor wide_b = run_reference("broadcast_to", {{"shape", shape}}, {b}).front();
    const Tensor out = run_reference("subtract", {}, {a, b}).front();
    BOOST_TEST(out.equal(run_reference("subtract", {}, {wide_a, wide_b}).front()), to_string(left) + to_string(right));
  }
}

BOOST_AUTO_TEST_CASE(integers_wrap_around) {
  const Tensor a({2}, std::vector<std::int32_t>{std::numeric_limits<std::int32_t>::max(), 7});
  const Tensor b({2}, std::vector<std::int32_t>{1, -9});
  check_equal(apply("add", {a, b}), {-2147483648.0, -2});
  check_equal(apply("multiply", {a, a}), {1, 49});
  const Tensor c({3}, std::vector<std::uint8_t>{0, 200, 255}), d({3}, std::vector<std::uint8_t>{1, 100, 255});
  check_equal(apply("subtract", {c, d}), {255, 100, 0});
  check_equal(apply("add", {c, d}), {1, 44, 254});
}

BOOST_AUTO_TEST_CASE(equal_in_every_dtype) {
  for (const DType dtype : all_dtypes) {
    const Tensor a = small_integers({40}, dtype, 1), b = small_integers({40}, dtype, 2);
    const std::vector<double> x = a.to_doubles(), y = b.to_doubles(), got = apply("equal", {a, b});
    for (std::size_t i = 0; i < got.size(); ++i) BOOST_TEST((got[i] == 1) == (x[i] == y[i]));
  }
  check_equal(apply("equal", {doubles({not_a_number, 0.0}), doubles({not_a_number, -0.0})}), {0, 1});
  const auto zeros = std::vector<float16>{float16(0.0F)}, minus = std::vector<float16>{float16(-0.0F)};
  check_equal(apply("equal", {Tensor({1}, zeros), Tensor({1}, minus)}), {1});
}

BOOST_AUTO_TEST_CASE(in_place) {
  const Tensor a = random_tensor({30, 7}, DType::float32, 1, 0.5, 2),
               b = random_tensor({30, 7}, DType::float32, 2, 0.5, 2);
  const Tensor row = random_tensor({7}, DType::float32, 3);
  for (const char* op : {"relu", "exp", "log", "negative", "abs", "sign"}) {
    BOOST_TEST(count_safe_overwrites("reference", op, {}, {a}) == 1, op);
  }
  for (const char* op : {"add", "subtract", "multiply", "divide", "relu_gradient"}) {
    BOOST_TEST(count_safe_overwrites("reference", op, {}, {a, b}) == 2, op);
  }
  BOOST_TEST(count_safe_overwrites("reference", "subtract", {}, {a, row}) == 1);
}

BOOST_AUTO_TEST_CASE(large_arrays_are_split_among_threads) {
  const Tensor a = random_tensor({70001}, DType::float32, 1), b = random_tensor({1}, DType::float32, 2);
  const std::vector<double> x = a.to_doubles(), got = apply("add", {a, b});
  const auto y = static_cast<float>(b.item());
  bool same = true;
  for (std::size_t i = 0; i < x.size(); ++i) same = same && got[i] == static_cast<double>(static_cast<float>(x[i]) + y);
  BOOST_TEST(same);
}

BOOST_AUTO_TEST_CASE(declines_narrow_floats) {
  const KernelRun run =
      run_kernel("reference", "add", {}, {Tensor({2}, DType::bfloat16), Tensor({2}, DType::bfloat16)});
  BOOST_TEST(run.declined == "computes float32 and float64 only");
}

BOOST_AUTO_TEST_SUITE_END()
