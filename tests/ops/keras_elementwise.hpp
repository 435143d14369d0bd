#pragma once

#include <cmath>
#include <numeric>

#include <mezzo/ops/elementwise_program.hpp>

#include "ops/activations.hpp"

// Rows of Keras' elementwise ops beside those of elementwise.hpp and activations.hpp, and of chains of them.
namespace mezzo_tests {

// Functions of one float, with the interval of their operands. The libraries' functions stay within one unit.
inline std::vector<OpRow> elementary_rows() {
  struct Kind {
    const char* op;
    Unary function;
    double (*plain)(double);
    double low, high;
    bool differentiable = true;
  };
  const Kind kinds[] = {{"arccos", mezzo::arccos, [](double x) { return std::acos(x); }, -0.9, 0.9},
                        {"arccosh", mezzo::arccosh, [](double x) { return std::acosh(x); }, 1.2, 5},
                        {"arcsin", mezzo::arcsin, [](double x) { return std::asin(x); }, -0.9, 0.9},
                        {"arcsinh", mezzo::arcsinh, [](double x) { return std::asinh(x); }, -4, 4},
                        {"arctan", mezzo::arctan, [](double x) { return std::atan(x); }, -4, 4},
                        {"arctanh", mezzo::arctanh, [](double x) { return std::atanh(x); }, -0.9, 0.9},
                        {"cbrt", mezzo::cbrt, [](double x) { return std::cbrt(x); }, 0.3, 9},
                        {"ceil", mezzo::ceil, [](double x) { return std::ceil(x); }, -4, 4, false},
                        {"cos", mezzo::cos, [](double x) { return std::cos(x); }, -6, 6},
                        {"cosh", mezzo::cosh, [](double x) { return std::cosh(x); }, -3, 3},
                        {"erf", mezzo::erf, [](double x) { return std::erf(x); }, -3, 3},
                        {"erfc", mezzo::erfc, [](double x) { return std::erfc(x); }, -3, 3},
                        {"erfinv", mezzo::erfinv, nullptr, -0.9, 0.9},
                        {"exp2", mezzo::exp2, [](double x) { return std::exp2(x); }, -3, 3},
                        {"expm1", mezzo::expm1, [](double x) { return std::expm1(x); }, -3, 3},
                        {"floor", mezzo::floor, [](double x) { return std::floor(x); }, -4, 4, false},
                        {"log10", mezzo::log10, [](double x) { return std::log10(x); }, 0.3, 9},
                        {"log1p", mezzo::log1p, [](double x) { return std::log1p(x); }, -0.7, 9},
                        {"log2", mezzo::log2, [](double x) { return std::log2(x); }, 0.3, 9},
                        {"round", [](const mezzo::Value& x) { return mezzo::round(x); },
                         [](double x) { return std::nearbyint(x); }, -4, 4, false},
                        {"rsqrt", mezzo::rsqrt, [](double x) { return 1 / std::sqrt(x); }, 0.3, 9},
                        {"sin", mezzo::sin, [](double x) { return std::sin(x); }, -6, 6},
                        {"sinh", mezzo::sinh, [](double x) { return std::sinh(x); }, -3, 3},
                        {"sqrt", mezzo::sqrt, [](double x) { return std::sqrt(x); }, 0.3, 9},
                        {"tan", mezzo::tan, [](double x) { return std::tan(x); }, -1.2, 1.2},
                        {"trunc", mezzo::trunc, [](double x) { return std::trunc(x); }, -4, 4, false}};
  std::vector<OpRow> rows;
  for (const Kind& kind : kinds) {
    rows.push_back(unary_row(kind.op, kind.function, uniform({5, 7}, kind.low, kind.high), kind.plain));
    OpRow& row = rows.back();
    row.ulps = kind.differentiable ? 1.5 : rounded_once;
    row.depth = kind.differentiable ? 1 : 0;
    if (!kind.differentiable) row.differentiable = {};
    if (kind.plain == nullptr) {  // erf, inverted by bisection
      row.plain = [](const TensorList& v) {
        return TensorList{map(v[0], [](double y) {
          double low = -6, high = 6;
          for (int i = 0; i < 60; ++i) (std::erf((low + high) / 2) < y ? low : high) = (low + high) / 2;
          return (low + high) / 2;
        })};
      };
    }
    rows.push_back(without_elements(row));
  }
  return rows;
}

inline double plain_mod(double a, double b) { return a - b * std::floor(a / b); }
inline double plain_less(double a, double b) { return a < b ? 1 : 0; }
inline double plain_less_equal(double a, double b) { return a <= b ? 1 : 0; }

// Functions of two floats.
inline std::vector<OpRow> pair_rows() {
  struct Kind {
    const char* op;
    Binary function;
    double (*plain)(double, double);
    bool differentiable = true;
    bool compares = false;
  };
  const Kind kinds[] = {
      {"arctan2", mezzo::arctan2, [](double a, double b) { return std::atan2(a, b); }},
      {"floor_divide", mezzo::floor_divide, [](double a, double b) { return std::floor(a / b); }, false},
      {"fmod", mezzo::fmod, [](double a, double b) { return std::fmod(a, b); }},
      {"hypot", mezzo::hypot, [](double a, double b) { return std::hypot(a, b); }},
      {"less", mezzo::less, plain_less, false, true},
      {"less_equal", mezzo::less_equal, plain_less_equal, false, true},
      {"logaddexp", mezzo::logaddexp, [](double a, double b) { return std::log(std::exp(a) + std::exp(b)); }},
      {"maximum", mezzo::maximum, [](double a, double b) { return std::max(a, b); }},
      {"minimum", mezzo::minimum, [](double a, double b) { return std::min(a, b); }},
      {"mod", mezzo::mod, plain_mod},
      {"power", mezzo::power, [](double a, double b) { return std::pow(a, b); }}};
  const std::pair<mezzo::Shape, mezzo::Shape> shapes[] = {{{3, 4}, {3, 4}}, {{3, 37}, {37}}, {{2, 3, 2}, {2, 1, 2}},
                                                          {{3, 1}, {1, 4}}, {{}, {5}},       {{0, 3}, {3}}};
  std::vector<OpRow> rows;
  for (const Kind& kind : kinds) {
    for (const auto& [a, b] : shapes) {
      rows.push_back(binary_row(kind.op, mezzo::to_string(a) + " and " + mezzo::to_string(b), kind.function,
                                {uniform(a, 0.6, 3, 1), uniform(b, 0.7, 2, 2)}, kind.plain));
      OpRow& row = rows.back();
      row.ulps = 1.5;
      if (!kind.differentiable) row.differentiable = {};
      if (kind.compares) {
        row.arguments[0].numbers = small_integers(a, mezzo::DType::float64, 1);
        row.arguments[1].numbers = small_integers(b, mezzo::DType::float64, 2);
        row.outputs = {mezzo::DType::boolean};
        row.plain = [plain = kind.plain](const TensorList& v) {
          return TensorList{zip(v[0], v[1], plain).cast(mezzo::DType::boolean)};
        };
      }
    }
  }
  return rows;
}

// Functions of integers and of bools, which have one dtype.
inline std::vector<OpRow> fixed_rows() {
  using mezzo::DType;
  struct Kind {
    const char* op;
    DType dtype;
    double low, high;
    double (*plain)(double, double);
  };
  const Kind kinds[] = {
      {"bitwise_and", DType::int32, -9, 9,
       [](double a, double b) { return static_cast<double>(static_cast<int>(a) & static_cast<int>(b)); }},
      {"bitwise_or", DType::int32, -9, 9,
       [](double a, double b) { return static_cast<double>(static_cast<int>(a) | static_cast<int>(b)); }},
      {"bitwise_xor", DType::int32, -9, 9,
       [](double a, double b) { return static_cast<double>(static_cast<int>(a) ^ static_cast<int>(b)); }},
      {"left_shift", DType::int32, 0, 9, [](double a, double b) { return std::ldexp(a, static_cast<int>(b)); }},
      {"right_shift", DType::int32, 0, 9,
       [](double a, double b) { return std::floor(std::ldexp(a, -static_cast<int>(b))); }},
      {"gcd", DType::int32, -9, 9,
       [](double a, double b) { return static_cast<double>(std::gcd(static_cast<int>(a), static_cast<int>(b))); }},
      {"maximum", DType::int32, -9, 9, [](double a, double b) { return std::max(a, b); }},
      {"mod", DType::int32, -9, 9, [](double a, double b) { return b == 0 ? 0 : plain_mod(a, b); }},
      {"floor_divide", DType::int32, -9, 9, [](double a, double b) { return b == 0 ? 0 : std::floor(a / b); }},
      {"power", DType::int32, 0, 5, [](double a, double b) { return std::pow(a, b); }},
      {"less", DType::int32, -3, 3, plain_less},
      {"logical_and", DType::boolean, 0, 2, [](double a, double b) { return a * b; }},
      {"logical_or", DType::boolean, 0, 2, [](double a, double b) { return std::max(a, b); }}};
  std::vector<OpRow> rows;
  for (const Kind& kind : kinds) {
    for (const auto& [a, b] : {std::pair<mezzo::Shape, mezzo::Shape>{{4, 9}, {9}}, {{4, 1}, {1, 9}}, {{0, 3}, {3}}}) {
      const DType out = std::string(kind.op) == "less" ? DType::boolean : kind.dtype;
      rows.push_back({.op = kind.op,
                      .note = std::string("of ") + dtype_name(kind.dtype) + " " + mezzo::to_string(a),
                      .call = inserted(kind.op),
                      .arguments = {{integers(a, kind.dtype, kind.low, kind.high, 1), kind.dtype},
                                    {integers(b, kind.dtype, kind.low, kind.high, 2), kind.dtype}},
                      .outputs = {out},
                      .plain = [plain = kind.plain, out](const TensorList& v) {
                        return TensorList{zip(v[0], v[1], plain).cast(out)};
                      }});
    }
  }
  const std::pair<const char*, double (*)(double)> unary[] = {
      {"abs", [](double x) { return std::abs(x); }},
      {"negative", [](double x) { return -x; }},
      {"sign", [](double x) { return static_cast<double>((x > 0) - (x < 0)); }}};
  for (const auto& [op, plain] : unary) {
    rows.push_back(
        {.op = op,
         .note = "of int32",
         .call = inserted(op),
         .arguments = {{integers({5, 5}, DType::int32, -3, 3), DType::int32}},
         .outputs = {DType::int32},
         .plain = [plain = plain](const TensorList& v) { return TensorList{map(v[0], plain).cast(DType::int32)}; }});
  }
  for (const mezzo::Shape& shape : {mezzo::Shape{4, 9}, mezzo::Shape{0, 3}}) {
    rows.push_back({.op = "logical_not",
                    .note = mezzo::to_string(shape),
                    .call = inserted("logical_not"),
                    .arguments = {{integers(shape, DType::boolean, 0, 2), DType::boolean}},
                    .outputs = {DType::boolean},
                    .plain = [](const TensorList& v) {
                      return TensorList{map(v[0], [](double x) { return 1 - x; }).cast(DType::boolean)};
                    }});
  }
  return rows;
}

// Rows of ops that are no plain functions of elements.
inline std::vector<OpRow> other_elementwise_rows() {
  std::vector<OpRow> rows;
  rows.push_back({.op = "nan_to_num",
                  .call = [](const mezzo::Values& v) { return mezzo::Values{mezzo::nan_to_num(v[0])}; },
                  .arguments = {{uniform({5, 7}, -3, 3)}},
                  .outputs = {Role::varied()},
                  .plain = [](const TensorList& v) { return TensorList{v[0]}; },
                  .differentiable = {0}});
  rows.push_back(without_elements(rows.back()));
  const std::pair<mezzo::Shape, std::int64_t> lines[] = {{{3, 5}, -1}, {{3, 5}, 0}, {{2, 17, 3}, 1}, {{0, 4}, -1}};
  for (const auto& [shape, axis] : lines) {
    const auto place = static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(shape.size()) : axis);
    rows.push_back(softmax_row(shape, axis));
    rows.back().op = "log_softmax";
    rows.back().call = [axis = axis](const mezzo::Values& v) { return mezzo::Values{mezzo::log_softmax(v[0], axis)}; };
    rows.back().plain = [place](const TensorList& v) {
      return TensorList{map(plain_softmax(v[0], place), [](double y) { return std::log(y); })};
    };
    rows.push_back(softmax_row(shape, axis));
    rows.back().op = "sparsemax";
    rows.back().call = [axis = axis](const mezzo::Values& v) { return mezzo::Values{mezzo::sparsemax(v[0], axis)}; };
    rows.back().arguments[0].numbers = uniform(shape, -1, 1);
    rows.back().plain = [place](const TensorList& v) {  // the threshold by bisection
      mezzo::Shape small = v[0].shape();
      small[place] = 1;
      mezzo::Tensor low(small, mezzo::DType::float64), high(small, mezzo::DType::float64);
      for (std::int64_t i = 0; i < low.size(); ++i) {
        low.mutable_data<double>()[i] = -3;
        high.mutable_data<double>()[i] = 1;
      }
      const auto projected = [&](const mezzo::Tensor& t) {
        return zip(v[0], t, [](double x, double threshold) { return std::max(x - threshold, 0.0); });
      };
      for (int step = 0; step < 60; ++step) {
        const mezzo::Tensor middle = zip(low, high, [](double a, double b) { return (a + b) / 2; });
        const mezzo::Tensor sums = sum_along(projected(middle), place);
        for (std::int64_t i = 0; i < low.size(); ++i) {
          (sums.data<double>()[i] > 1 ? low : high).mutable_data<double>()[i] = middle.data<double>()[i];
        }
      }
      return TensorList{projected(high)};
    };
  }
  return rows;
}

// A chain of a * b + c, exp, and a comparison with c that chooses between both: outputs the choice and the sum.
inline std::shared_ptr<const mezzo::detail::AttributeFunction> chain_program(mezzo::DType dtype) {
  auto program = std::make_shared<mezzo::ElementwiseProgram>();
  program->inputs = 3;
  const auto step = [&](const char* op, std::vector<std::size_t> operands, mezzo::DType result) {
    mezzo::ElementwiseStep one;
    one.op = &mezzo::find_op(op);
    one.operands = std::move(operands);
    one.dtype = result;
    program->steps.push_back(std::move(one));
  };
  step("multiply", {0, 1}, dtype);
  step("add", {3, 2}, dtype);
  step("exp", {4}, dtype);
  step("less", {4, 2}, mezzo::DType::boolean);
  step("where", {6, 5, 4}, dtype);
  program->outputs = {4, 1};
  return program;
}

inline OpRow chain_row(const mezzo::Shape& a, const mezzo::Shape& b, const mezzo::Shape& c, const mezzo::Shape& out) {
  return {.op = "elementwise_chain",
          .note = mezzo::to_string(a) + ", " + mezzo::to_string(b) + ", " + mezzo::to_string(c),
          .call =
              [out](const mezzo::Values& v) {
                return insert(mezzo::find_op("elementwise_chain"), v,
                              {{"program", chain_program(v[0].dtype())}, {"shape", out}});
              },
          .arguments = {{small_integers(a, mezzo::DType::float64, 1)},
                        {small_integers(b, mezzo::DType::float64, 2)},
                        {small_integers(c, mezzo::DType::float64, 3)}},
          .outputs = {Role::varied(), Role::varied()},
          .plain =
              [out](const TensorList& v) {
                const mezzo::Tensor zero(out, mezzo::DType::float64);
                const mezzo::Tensor c_wide = zip(v[2], zero, [](double x, double) { return x; });
                const mezzo::Tensor product = zip(zip(v[0], v[1], [](double x, double y) { return x * y; }), c_wide,
                                                  [](double x, double y) { return x + y; });
                const mezzo::Tensor choice =
                    zip(product, c_wide, [](double sum, double limit) { return sum < limit ? std::exp(sum) : sum; });
                return TensorList{choice, product};
              },
          .ulps = 1,
          .internal = true};
}

inline std::vector<OpRow> keras_elementwise_rows() {
  std::vector<OpRow> all;
  for (const auto& rows : {elementary_rows(), pair_rows(), fixed_rows(), other_elementwise_rows()}) {
    all.insert(all.end(), rows.begin(), rows.end());
  }
  all.push_back(chain_row({7, 9}, {7, 9}, {9}, {7, 9}));
  all.push_back(chain_row({2, 1, 5}, {3, 1}, {}, {2, 3, 5}));
  all.push_back(chain_row({0, 3}, {3}, {3}, {0, 3}));
  return all;
}

inline std::vector<Refusal> keras_elementwise_refusals() {
  using mezzo::DType;
  using mezzo::Tensor;
  std::vector<Refusal> out;
  for (const std::string op : {"arctan2", "floor_divide", "fmod", "hypot", "less", "less_equal", "logaddexp", "maximum",
                               "minimum", "mod", "power"}) {
    out.push_back(
        refusal<mezzo::ShapeError>(op, "[" + op + "] shapes must be equal or 1 on axis -1; got (2, 3) and (4,)", [op] {
          inserted(op)({Tensor({2, 3}), Tensor({4})});
        }));
  }
  for (const std::string op : {"bitwise_and", "bitwise_or", "bitwise_xor"}) {
    out.push_back(refusal<mezzo::DTypeError>(op, "[" + op + "] input 0 must be bool or an integer; got float32", [op] {
      inserted(op)({Tensor({2}), Tensor({2}, DType::int32)});
    }));
  }
  for (const std::string op : {"left_shift", "right_shift", "gcd"}) {
    out.push_back(refusal<mezzo::DTypeError>(op, "[" + op + "] input 0 must be an integer; got bool", [op] {
      inserted(op)({Tensor({2}, DType::boolean), Tensor({2}, DType::boolean)});
    }));
  }
  for (const std::string op : {"logical_and", "logical_or"}) {
    out.push_back(refusal<mezzo::DTypeError>(op, "[" + op + "] input 1 must be bool; got float32", [op] {
      inserted(op)({Tensor({2}, DType::boolean), Tensor({2})});
    }));
  }
  out.push_back(refusal<mezzo::DTypeError>("logical_not", "[logical_not] input 0 must be bool; got float32",
                                           [] { inserted("logical_not")({Tensor({2})}); }));
  out.push_back(refusal<mezzo::ValueError>("round", "[round] decimals must lie in [-300, 300]; got 301",
                                           [] { mezzo::round(Tensor({2}), 301); }));
  out.push_back(
      refusal<mezzo::ShapeError>("sparsemax", "[sparsemax] input axis 1 must be at least 1; got shape (2, 0)", [] {
        mezzo::sparsemax(Tensor({2, 0}));
      }));
  for (const std::string op : {"log_softmax", "sparsemax"}) {
    out.push_back(refusal<mezzo::ShapeError>(op, "[" + op + "] axis must lie in [-2, 2); got 2", [op] {
      op == "sparsemax" ? mezzo::sparsemax(Tensor({2, 2}), 2) : mezzo::log_softmax(Tensor({2, 2}), 2);
    }));
  }
  out.push_back(refusal<mezzo::ShapeError>(
      "elementwise_chain", "[elementwise_chain] shapes must be equal or 1 on axis -1; got (4,) and (2, 3)", [] {
        insert(mezzo::find_op("elementwise_chain"), {Tensor({4}), Tensor({2, 3}), Tensor({3})},
               {{"program", chain_program(DType::float32)}, {"shape", mezzo::Shape{2, 3}}});
      }));
  return out;
}

}  // namespace mezzo_tests
