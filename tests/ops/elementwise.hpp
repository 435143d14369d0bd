#pragma once

#include <cmath>

#include "ops/plain.hpp"

namespace mezzo_tests {

using Unary = mezzo::Value (*)(const mezzo::Value&);
using Binary = mezzo::Value (*)(const mezzo::Value&, const mezzo::Value&);

inline OpRow unary_row(const std::string& op, Unary function, const mezzo::Tensor& x, double (*plain)(double)) {
  return {.op = op,
          .call = [function](const mezzo::Values& v) { return mezzo::Values{function(v[0])}; },
          .arguments = {{x}},
          .outputs = {Role::varied()},
          .plain = [plain](const TensorList& v) { return TensorList{map(v[0], plain)}; },
          .differentiable = {0}};
}

inline OpRow binary_row(const std::string& op, const std::string& note, Binary function, const TensorList& arguments,
                        double (*plain)(double, double)) {
  return {.op = op,
          .note = note,
          .call = [function](const mezzo::Values& v) { return mezzo::Values{function(v[0], v[1])}; },
          .arguments = {{arguments[0]}, {arguments[1]}},
          .outputs = {Role::varied()},
          .plain = [plain](const TensorList& v) { return TensorList{zip(v[0], v[1], plain)}; },
          .differentiable = {0, 1},
          .depth = 12};  // gradients are summed over stretched axes
}

inline std::vector<OpRow> arithmetic_rows() {
  struct Pair {
    const char* note;
    mezzo::Shape a, b;
  };
  struct Kind {
    const char* op;
    Binary function;
    double (*plain)(double, double);
  };
  const Pair pairs[] = {{"of one shape", {3, 4}, {3, 4}},
                        {"with a row", {3, 4}, {4}},
                        {"with a scalar", {2, 3}, {}},
                        {"of a column and a row", {3, 1}, {1, 4}},
                        {"with a middle axis stretched", {2, 3, 2}, {2, 1, 2}},
                        {"without rows", {0, 3}, {3}},
                        {"of an empty column and a row", {0, 1}, {1, 4}},
                        {"without columns, broadcast on three axes", {2, 1, 1}, {1, 3, 0}}};
  const Kind kinds[] = {{"add", mezzo::add, [](double a, double b) { return a + b; }},
                        {"subtract", mezzo::subtract, [](double a, double b) { return a - b; }},
                        {"multiply", mezzo::multiply, [](double a, double b) { return a * b; }},
                        {"divide", mezzo::divide, [](double a, double b) { return a / b; }}};
  std::vector<OpRow> rows;
  for (const Kind& kind : kinds) {
    for (const Pair& pair : pairs) {
      rows.push_back(binary_row(kind.op, pair.note, kind.function,
                                {uniform(pair.a, -2, 2, 1), uniform(pair.b, 0.5, 2, 2)}, kind.plain));
      rows.push_back(rows.back());
      rows.back().note += ", the other way round";
      std::swap(rows.back().arguments[0], rows.back().arguments[1]);
      if (rows.back().op == "divide") rows.back().arguments[1].numbers = uniform(pair.a, -2, -0.5, 3);
    }
    if (std::string(kind.op) == "divide") continue;
    OpRow of_integers = binary_row(
        kind.op, "of integers", kind.function,
        {integers({2, 3}, mezzo::DType::int32, -9, 9, 1), integers({3}, mezzo::DType::int32, -9, 9, 2)}, kind.plain);
    for (Argument& argument : of_integers.arguments) argument.role = mezzo::DType::int32;
    of_integers.outputs = {mezzo::DType::int32};
    of_integers.plain = [plain = of_integers.plain](const TensorList& v) {
      return TensorList{plain(v)[0].cast(mezzo::DType::int32)};
    };
    of_integers.differentiable = {};
    rows.push_back(of_integers);
  }
  return rows;
}

inline OpRow equal_row(const mezzo::Shape& a, const mezzo::Shape& b) {
  return {.op = "equal",
          .note = mezzo::to_string(a) + " and " + mezzo::to_string(b),
          .call = [](const mezzo::Values& v) { return mezzo::Values{mezzo::equal(v[0], v[1])}; },
          .arguments = {{small_integers(a, mezzo::DType::float64, 1)}, {small_integers(b, mezzo::DType::float64, 2)}},
          .outputs = {mezzo::DType::boolean},
          .plain =
              [](const TensorList& v) {
                return TensorList{
                    zip(v[0], v[1], [](double x, double y) { return x == y ? 1 : 0; }).cast(mezzo::DType::boolean)};
              }};
}

inline OpRow relu_gradient_row() {
  return {.op = "relu_gradient",
          .call = inserted("relu_gradient"),
          .arguments = {{map(apart({4, 5}), [](double y) { return std::max(y, 0.0); })}, {uniform({4, 5}, -2, 2)}},
          .outputs = {Role::varied()},
          .plain =
              [](const TensorList& v) {
                return TensorList{zip(v[0], v[1], [](double y, double g) { return y > 0 ? g : 0; })};
              },
          .differentiable = {1},
          .internal = true};
}

inline double plain_relu6(double x) { return std::min(std::max(x, 0.0), 6.0); }

// 70 numbers from -14 to 14, apart from 0 and from 6.
inline mezzo::Tensor around_limits() {
  return map(apart({7, 10}), [](double x) { return 10 * x; });
}

inline OpRow relu6_gradient_row() {
  OpRow row = relu_gradient_row();
  row.note = "up to 6";
  row.call = inserted("relu_gradient", {{"max_value", 6.0}});
  row.arguments = {{map(around_limits(), plain_relu6)}, {uniform({7, 10}, -2, 2)}};
  row.plain = [](const TensorList& v) {
    return TensorList{zip(v[0], v[1], [](double y, double g) { return y > 0 && y < 6 ? g : 0; })};
  };
  return row;
}

inline OpRow relu_bias_gradient_row(const mezzo::Shape& shape) {
  const std::int64_t columns = shape.back();
  const auto plain = [columns](const TensorList& v) {
    const mezzo::Tensor masked = zip(v[0], v[1], [](double y, double g) { return y > 0 ? g : 0; });
    mezzo::Tensor sums({columns}, mezzo::DType::float64);
    for (std::int64_t i = 0; i < masked.size(); ++i) {
      sums.mutable_data<double>()[i % columns] += masked.data<double>()[i];
    }
    return TensorList{masked, sums};
  };
  return {.op = "relu_bias_gradient",
          .note = mezzo::to_string(shape),
          .call = inserted("relu_bias_gradient"),
          .arguments = {{map(apart(shape), [](double y) { return std::max(y, 0.0); })}, {uniform(shape, -2, 2)}},
          .outputs = {Role::varied(), Role::accumulated()},
          .plain = plain,
          .depth = static_cast<double>(mezzo::element_count(shape)),
          .internal = true};
}

inline OpRow cast_row(Role from, mezzo::DType to, const mezzo::Tensor& x) {
  OpRow row{.op = "cast",
            .note = std::string("to ") + dtype_name(to),
            .call = [to](const mezzo::Values& v) { return mezzo::Values{mezzo::cast(v[0], to)}; },
            .arguments = {{x, from}},
            .outputs = {to},
            .plain = [to](const TensorList& v) { return TensorList{v[0].cast(to)}; },
            .keeps = true};
  if (to == mezzo::DType::float64) row.differentiable = {0};  // differences in others see steps
  return row;
}

inline OpRow dropout_row(double rate) {
  constexpr std::int64_t key = 12345;
  const auto plain = [rate](const TensorList& v) {
    const auto seed = static_cast<std::uint64_t>(v[1].item()), step = static_cast<std::uint64_t>(v[2].item());
    const std::uint64_t stream = mezzo::detail::mix(mezzo::detail::mix(static_cast<std::uint64_t>(key), seed), step);
    mezzo::Tensor out = v[0];
    for (std::int64_t i = 0; i < out.size(); ++i) {
      const auto index = static_cast<std::uint64_t>(i);
      const bool kept = mezzo::unit_float(mezzo::philox(stream, index / 4)[index % 4]) >= static_cast<float>(rate);
      double& x = out.mutable_data<double>()[i];
      x = kept ? x / (1 - rate) : 0;
    }
    return TensorList{out};
  };
  return {.op = "dropout",
          .note = "at " + std::to_string(rate),
          .call = inserted("dropout", {{"rate", rate}, {"key", key}}),
          .arguments = {{uniform({7, 9}, 0.5, 2)},
                        {float64_scalar(3), mezzo::DType::float64},
                        {float64_scalar(11), mezzo::DType::float64}},
          .outputs = {Role::varied()},
          .plain = plain,
          .differentiable = {0},
          .ulps = 1.5};  // the factor 1 / (1 - rate) is rounded, then the product
}

inline std::vector<OpRow> elementwise_rows() {
  std::vector<OpRow> rows = arithmetic_rows();
  const mezzo::Tensor kinky = apart({5, 7});
  rows.push_back(unary_row("relu", mezzo::relu, kinky, [](double x) { return std::max(x, 0.0); }));
  rows.push_back(unary_row("relu", mezzo::relu6, around_limits(), plain_relu6));
  rows.back().note = "up to 6";
  rows.push_back(unary_row("abs", mezzo::abs, kinky, [](double x) { return std::abs(x); }));
  rows.push_back(unary_row("negative", mezzo::negative, kinky, [](double x) { return -x; }));
  rows.push_back(unary_row("sign", mezzo::sign, kinky, [](double x) { return x > 0 ? 1.0 : -1.0; }));
  rows.back().differentiable = {};
  rows.push_back(unary_row("exp", mezzo::exp, uniform({5, 7}, -3, 3), [](double x) { return std::exp(x); }));
  rows.back().ulps = 1;  // good libraries and ours stay within one
  rows.push_back(unary_row("log", mezzo::log, uniform({5, 7}, 0.1, 9), [](double x) { return std::log(x); }));
  rows.back().ulps = 1;
  rows.push_back(unary_row("stop_gradient", mezzo::stop_gradient, kinky, [](double x) { return x; }));
  rows.back().differentiable = {};
  rows.back().keeps = true;
  rows.push_back(unary_row("identity", mezzo::identity, kinky, [](double x) { return x; }));
  rows.back().keeps = true;
  for (const OpRow& row : std::vector<OpRow>(rows)) {
    if (row.arguments.size() == 1) rows.push_back(without_elements(row));
  }
  rows.push_back(equal_row({5, 6}, {6}));
  rows.push_back(equal_row({0, 6}, {6}));
  rows.push_back(equal_row({3, 1}, {0}));
  rows.push_back(relu_gradient_row());
  rows.push_back(without_elements(relu_gradient_row()));
  rows.push_back(relu6_gradient_row());
  rows.push_back(without_elements(relu6_gradient_row()));
  for (const mezzo::Shape& shape :
       {mezzo::Shape{4, 5}, mezzo::Shape{2, 3, 3, 17}, mezzo::Shape{0, 5}, mezzo::Shape{2, 0}}) {
    rows.push_back(relu_bias_gradient_row(shape));
  }
  for (const mezzo::DType to : {mezzo::DType::float32, mezzo::DType::float64, mezzo::DType::bfloat16,
                                mezzo::DType::float16, mezzo::DType::int32, mezzo::DType::int64}) {
    rows.push_back(cast_row(Role::varied(), to, uniform({4, 9}, -9, 9)));
    rows.push_back(without_elements(rows.back()));
  }
  rows.push_back(cast_row(Role::varied(), mezzo::DType::boolean, small_integers({4, 9}, mezzo::DType::float64)));
  rows.push_back(cast_row(mezzo::DType::uint8, mezzo::DType::bfloat16, integers({5, 5}, mezzo::DType::uint8, 0, 256)));
  rows.push_back(cast_row(mezzo::DType::boolean, mezzo::DType::float32, integers({9}, mezzo::DType::boolean, 0, 2)));
  for (const double rate : {0.25, 0.4}) rows.push_back(dropout_row(rate));
  rows.push_back(without_elements(rows.back()));
  return rows;
}

inline std::vector<Refusal> elementwise_refusals() {
  using mezzo::ShapeError;
  using mezzo::Tensor;
  std::vector<Refusal> out;
  struct Kind {
    const char* op;
    Binary function;
  };
  for (const Kind& kind :
       {Kind{"add", mezzo::add}, Kind{"subtract", mezzo::subtract}, Kind{"multiply", mezzo::multiply},
        Kind{"divide", mezzo::divide}, Kind{"equal", mezzo::equal}}) {
    out.push_back(refusal<ShapeError>(
        kind.op, "[" + std::string(kind.op) + "] shapes must be equal or 1 on axis -1; got (2, 3) and (4,)", [kind] {
          kind.function(Tensor({2, 3}), Tensor({4}));
        }));
  }
  for (const std::string op : {"relu_gradient", "relu_bias_gradient"}) {
    out.push_back(refusal<ShapeError>(op, "[" + op + "] the cotangent must have shape (2, 3); got (3,)", [op] {
      inserted(op)({Tensor({2, 3}), Tensor({3})});
    }));
  }
  out.push_back(refusal<mezzo::ValueError>("dropout", "[dropout] rate must lie in [0, 1); got 1",
                                           [] { mezzo::dropout(Tensor({2}), 1); }));
  out.push_back(refusal<mezzo::ValueError>("dropout", "[dropout] rate must lie in [0, 1); got -0.5",
                                           [] { mezzo::dropout(Tensor({2}), -0.5); }));
  return out;
}

}  // namespace mezzo_tests
