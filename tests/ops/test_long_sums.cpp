#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/ops/grad.hpp>
#include <mezzo/ops/linalg.hpp>
#include <mezzo/ops/numpy.hpp>
#include <mezzo/ops/ops.hpp>
#include <mezzo/ops/reductions.hpp>

using namespace mezzo;

// A float32 sum of ones, one after another, ends at 2^24. No reduction and no product may do so.

namespace {

constexpr std::int64_t count = std::int64_t{1} << 25;

Tensor ones_of(const Shape& shape, DType dtype = DType::float32) {
  Tensor out = Tensor::uninitialized(shape, dtype);
  if (dtype == DType::float32) {
    std::fill_n(out.mutable_data<float>(), out.size(), 1.0F);
  } else {
    std::fill_n(out.mutable_data<bfloat16>(), out.size(), bfloat16(1.0F));
  }
  return out;
}

using Case = std::pair<std::string, std::function<Value()>>;

// What each gives is 2^25 in all elements.
void check(const std::vector<Case>& cases) {
  for (const Case& each : cases) {
    const auto got = each.second().tensor().to_doubles();
    for (const double number : got) BOOST_TEST(number == static_cast<double>(count), each.first);
  }
}

bool small() { return std::getenv("MEZZO_TEST_SMALL") != nullptr; }

}  // namespace

BOOST_AUTO_TEST_SUITE(long_sums)

BOOST_AUTO_TEST_CASE(of_products) {
  const Value line(ones_of({count}));
  const Value row = reshape(line, {1, count}), column = reshape(line, {count, 1});
  std::vector<Case> cases{
      {"dot", [&] { return dot(line, line); }},
      {"matmul", [&] { return matmul(row, column); }},
      {"matmul, both transposed", [&] { return matmul(column, row, {.transpose_a = true, .transpose_b = true}); }},
  };
  if (!small()) {
    cases.insert(cases.end(),
                 {{"vdot", [&] { return vdot(line, line); }},
                  {"inner", [&] { return inner(line, line); }},
                  {"einsum",
                   [&] {
                     return einsum("a,a->", {line, line});
                   }},
                  {"matmul, a transposed", [&] { return matmul(column, column, {.transpose_a = true}); }},
                  {"matmul, b transposed", [&] { return matmul(row, row, {.transpose_b = true}); }},
                  {"a stack of matrices",
                   [&] {
                     return matmul(reshape(line, {1, 1, count}), reshape(line, {1, count, 1}));
                   }},
                  {"rows of several axes",
                   [&] {
                     return matmul(reshape(line, {1, 1, count}), column);
                   }},
                  {"gradient of a kernel", [&] {
                     return grad([&](const Value& kernel) { return sum(matmul(column, kernel)); })(ones_of({1, 1}));
                   }}});
  }
  check(cases);
}

BOOST_AUTO_TEST_CASE(of_products_whose_length_is_no_multiple_of_a_piece) {
  const std::int64_t odd = (std::int64_t{1} << 20) + 77;
  const Value row(ones_of({3, odd})), column(ones_of({odd, 2}));
  for (const double number : matmul(row, column).tensor().to_doubles()) BOOST_TEST(number == static_cast<double>(odd));
  const Tensor gradient = grad([&](const Value& x) { return sum(matmul(x, column)); })(row).tensor();
  BOOST_TEST((gradient.shape() == Shape{3, odd}));
  BOOST_TEST(gradient.data<float>()[3 * odd - 1] == 2);
}

BOOST_AUTO_TEST_CASE(of_products_in_bfloat16) {
  const Value line(ones_of({count}, DType::bfloat16));
  check({{"dot", [&] { return dot(line, line); }}, {"sum", [&] { return sum(line); }}});
}

BOOST_AUTO_TEST_CASE(of_reductions) {
  const Value line(ones_of({count}));
  const auto last = [](const Value& x) { return take(x, Tensor({1}, std::vector<std::int64_t>{count - 1}), 0); };
  std::vector<Case> cases{
      {"sum", [&] { return sum(line); }},
      {"sum of columns",
       [&] {
         return sum(reshape(line, {count / 2, 2}), {{0}}) * 2;
       }},
      {"cumsum", [&] { return last(cumsum(line, 0)); }},
      {"gradient of a stretched operand", [&] { return grad([&](const Value& x) { return sum(line * x); })(1.0); }},
  };
  if (!small()) {
    cases.insert(cases.end(),
                 {{"mean", [&] { return mean(line) * static_cast<double>(count); }},
                  {"norm", [&] { return cast(equal(norm(line), 5792.618751480198), DType::float32) * 0x1p25; }},
                  {"norm of order 1", [&] { return norm(line, {.ord = 1}); }},
                  {"var of line", [&] { return (1.0 - var(line)) * static_cast<double>(count); }},
                  {"logsumexp", [&] { return round(exp(logsumexp(line * 0)) * 0x1p-5, 0) * 32.0; }},
                  {"nansum", [&] { return nansum(line); }},
                  {"average", [&] { return average(line, {.weights = line}) * static_cast<double>(count); }},
                  {"softmax", [&] { return 1.0 / max(softmax(line, 0)); }},
                  {"trace", [&] { return sum(line, {.keepdims = true}); }}});
  }
  check(cases);
}

BOOST_AUTO_TEST_SUITE_END()
