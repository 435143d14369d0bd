#pragma once

#include <cmath>

#include "ops/elementwise.hpp"

// Rows of activation functions and of their gradients.
namespace mezzo_tests {

inline double plain_sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
inline double plain_gelu(double x) { return x * (1 + std::erf(x / std::sqrt(2.0))) / 2; }
inline double plain_approximate_gelu(double x) {
  return x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x))) / 2;
}

// The sums along an axis, which is left behind with size 1.
inline mezzo::Tensor sum_along(const mezzo::Tensor& x, std::size_t axis) {
  mezzo::Shape shape = x.shape();
  shape[axis] = 1;
  mezzo::Tensor sums(shape, mezzo::DType::float64);
  const mezzo::Shape strides = mezzo::detail::row_major_strides(shape);
  for_each_index(x.shape(), [&](std::size_t flat, const mezzo::Shape& index) {
    std::int64_t place = 0;
    for (std::size_t i = 0; i < index.size(); ++i) place += i == axis ? 0 : index[i] * strides[i];
    sums.mutable_data<double>()[place] += x.data<double>()[flat];
  });
  return sums;
}

inline mezzo::Tensor plain_softmax(const mezzo::Tensor& x, std::size_t axis) {
  const mezzo::Tensor powers = map(x, [](double v) { return std::exp(v); });
  return zip(powers, sum_along(powers, axis), [](double a, double b) { return a / b; });
}

inline OpRow gelu_row(bool approximate) {
  return {.op = "gelu",
          .note = approximate ? "approximate" : "",
          .call = [approximate](const mezzo::Values& v) { return mezzo::Values{mezzo::gelu(v[0], approximate)}; },
          .arguments = {{uniform({9, 37}, -5, 5)}},
          .outputs = {Role::varied()},
          .plain =
              [approximate](const TensorList& v) {
                return TensorList{map(v[0], approximate ? plain_approximate_gelu : plain_gelu)};
              },
          .differentiable = {0},
          .ulps = 2,
          .depth = 1};  // below 0 the error is absolute
}

// A gradient, of (output or input, cotangent).
inline OpRow activation_gradient_row(const std::string& op, const mezzo::Attributes& attributes,
                                     const mezzo::Tensor& at, double (*slope)(double)) {
  return {.op = op,
          .note = attributes.to_string(),
          .call = inserted(op, attributes),
          .arguments = {{at}, {uniform(at.shape(), -2, 2, 2)}},
          .outputs = {Role::varied()},
          .plain =
              [slope](const TensorList& v) {
                return TensorList{zip(v[0], v[1], [slope](double a, double g) { return g * slope(a); })};
              },
          .ulps = 3,
          .depth = 16,  // terms of about 5 cancel
          .internal = true};
}

inline double gelu_slope(double x) {
  return plain_gelu(x) / x + x * std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0));
}

inline double approximate_gelu_slope(double x) {
  const double factor = std::sqrt(2 / std::acos(-1.0));
  const double t = std::tanh(factor * (x + 0.044715 * x * x * x));
  return (1 + t) / 2 + x * (1 - t * t) / 2 * factor * (1 + 3 * 0.044715 * x * x);
}

inline OpRow softmax_row(const mezzo::Shape& shape, std::int64_t axis) {
  const auto place = static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(shape.size()) : axis);
  return {.op = "softmax",
          .note = mezzo::to_string(shape) + " along " + std::to_string(axis),
          .call = [axis](const mezzo::Values& v) { return mezzo::Values{mezzo::softmax(v[0], axis)}; },
          .arguments = {{uniform(shape, -4, 4)}},
          .outputs = {Role::varied()},
          .plain = [place](const TensorList& v) { return TensorList{plain_softmax(v[0], place)}; },
          .differentiable = {0},
          .ulps = 2,
          .depth = static_cast<double>(shape[place])};
}

inline OpRow softmax_gradient_row(const mezzo::Shape& shape, std::size_t axis) {
  const auto plain = [axis](const TensorList& v) {
    const mezzo::Tensor products = zip(v[0], v[1], [](double y, double g) { return y * g; });
    const mezzo::Tensor sums = sum_along(products, axis);
    const mezzo::Tensor rest = zip(v[1], sums, [](double g, double sum) { return g - sum; });
    return TensorList{zip(v[0], rest, [](double y, double r) { return y * r; })};
  };
  return {.op = "softmax_gradient",
          .note = mezzo::to_string(shape) + " along " + std::to_string(axis),
          .call = inserted("softmax_gradient", {{"axis", static_cast<std::int64_t>(axis)}}),
          .arguments = {{plain_softmax(uniform(shape, -3, 3), axis)}, {uniform(shape, -2, 2, 2)}},
          .outputs = {Role::varied()},
          .plain = plain,
          .ulps = 2,
          .depth = static_cast<double>(shape[axis]),
          .internal = true};
}

inline std::vector<OpRow> activation_rows() {
  std::vector<OpRow> rows;
  const mezzo::Tensor x = uniform({9, 37}, -5, 5);
  rows.push_back(unary_row("tanh", mezzo::tanh, x, [](double v) { return std::tanh(v); }));
  rows.push_back(unary_row("sigmoid", mezzo::sigmoid, x, plain_sigmoid));
  rows.push_back(unary_row("softplus", mezzo::softplus, x, [](double v) { return std::log1p(std::exp(v)); }));
  for (OpRow& row : rows) row.ulps = 2;
  for (const bool approximate : {false, true}) rows.push_back(gelu_row(approximate));
  rows.push_back(unary_row("silu", mezzo::silu, x, [](double v) { return v * plain_sigmoid(v); }));
  rows.back().ulps = 3;
  rows.push_back(
      activation_gradient_row("tanh_gradient", {}, uniform({9, 37}, -1, 1), [](double y) { return 1 - y * y; }));
  rows.push_back(
      activation_gradient_row("sigmoid_gradient", {}, uniform({9, 37}, 0, 1), [](double y) { return y * (1 - y); }));
  for (OpRow& row : rows) {
    if (row.op == "tanh_gradient" || row.op == "sigmoid_gradient") row.differentiable = {0, 1};
  }
  rows.push_back(activation_gradient_row("gelu_gradient", {{"approximate", false}}, x, gelu_slope));
  rows.push_back(activation_gradient_row("gelu_gradient", {{"approximate", true}}, x, approximate_gelu_slope));
  rows.push_back(activation_gradient_row("silu_gradient", {}, x,
                                         [](double v) { return plain_sigmoid(v) * (1 + v * plain_sigmoid(-v)); }));
  rows.back().differentiable = {0, 1};
  for (const OpRow& row : std::vector<OpRow>(rows)) rows.push_back(without_elements(row));
  for (const mezzo::Shape& shape :
       {mezzo::Shape{3, 10}, mezzo::Shape{2, 3, 4}, mezzo::Shape{5, 33}, mezzo::Shape{0, 4}, mezzo::Shape{3, 0}}) {
    rows.push_back(softmax_row(shape, -1));
    rows.push_back(softmax_row(shape, 0));
    rows.push_back(softmax_gradient_row(shape, shape.size() - 1));
    rows.push_back(softmax_gradient_row(shape, 0));
  }
  return rows;
}

inline std::vector<Refusal> activation_refusals() {
  using mezzo::ShapeError;
  using mezzo::Tensor;
  std::vector<Refusal> out;
  const std::vector<std::pair<std::string, mezzo::Attributes>> gradients{
      {"tanh_gradient", {}},
      {"sigmoid_gradient", {}},
      {"gelu_gradient", {{"approximate", false}}},
      {"silu_gradient", {}},
      {"softmax_gradient", {{"axis", std::int64_t{1}}}}};
  for (const auto& entry : gradients) {
    const std::string text = "[" + entry.first + "] the cotangent must have shape (2, 3); got (3,)";
    out.push_back(refusal<ShapeError>(entry.first, text, [call = inserted(entry.first, entry.second)] {
      call({Tensor({2, 3}), Tensor({3})});
    }));
  }
  out.push_back(refusal<ShapeError>("softmax", "[softmax] axis must lie in [-2, 2); got 2", [] {
    mezzo::softmax(Tensor({2, 3}), 2);
  }));
  return out;
}

}  // namespace mezzo_tests
