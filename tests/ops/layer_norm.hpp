#pragma once

#include <cmath>
#include <limits>

#include "ops/plain.hpp"

// Rows of layer norm and its gradient.
namespace mezzo_tests {

constexpr double layer_norm_epsilon = 1e-3;

// (y, mean, 1 / sqrt(variance + epsilon)) of rows as long as gamma.
inline TensorList plain_layer_norm(const TensorList& v, const mezzo::Shape& leading) {
  const std::int64_t columns = v[1].size();
  mezzo::Tensor y(v[0].shape(), mezzo::DType::float64), means(leading, mezzo::DType::float64), inverses = means;
  for (std::int64_t row = 0; row < means.size(); ++row) {
    const double* x = v[0].data<double>() + row * columns;
    double mean = columns == 0 ? std::numeric_limits<double>::quiet_NaN() : 0, variance = mean;
    for (std::int64_t c = 0; c < columns; ++c) mean += x[c] / static_cast<double>(columns);
    for (std::int64_t c = 0; c < columns; ++c) variance += (x[c] - mean) * (x[c] - mean) / static_cast<double>(columns);
    means.mutable_data<double>()[row] = mean;
    const double inverse = inverses.mutable_data<double>()[row] = 1 / std::sqrt(variance + layer_norm_epsilon);
    for (std::int64_t c = 0; c < columns; ++c) {
      y.mutable_data<double>()[row * columns + c] =
          (x[c] - mean) * inverse * v[1].data<double>()[c] + v[2].data<double>()[c];
    }
  }
  return {y, means, inverses};
}

// With n = (x - mean) inverse and h = g gamma: dx = inverse (h - mean of h - n mean of h n) (Ba et al., 2016).
inline TensorList plain_layer_norm_gradient(const TensorList& v) {
  const mezzo::Tensor &g = v[0], &x = v[1], &gamma = v[2], &mean = v[3], &inverse = v[4];
  const std::int64_t columns = gamma.size();
  mezzo::Tensor dx(x.shape(), mezzo::DType::float64), dgamma(gamma.shape(), mezzo::DType::float64), dbeta = dgamma;
  for (std::int64_t row = 0; row < mean.size(); ++row) {
    const auto normalized = [&](std::int64_t c) {
      return (x.data<double>()[row * columns + c] - mean.data<double>()[row]) * inverse.data<double>()[row];
    };
    const auto cotangent = [&](std::int64_t c) { return g.data<double>()[row * columns + c]; };
    double of_all = 0, of_normalized = 0;
    for (std::int64_t c = 0; c < columns; ++c) {
      of_all += cotangent(c) * gamma.data<double>()[c] / static_cast<double>(columns);
      of_normalized += cotangent(c) * gamma.data<double>()[c] * normalized(c) / static_cast<double>(columns);
      dgamma.mutable_data<double>()[c] += cotangent(c) * normalized(c);
      dbeta.mutable_data<double>()[c] += cotangent(c);
    }
    for (std::int64_t c = 0; c < columns; ++c) {
      dx.mutable_data<double>()[row * columns + c] =
          inverse.data<double>()[row] *
          (cotangent(c) * gamma.data<double>()[c] - of_all - normalized(c) * of_normalized);
    }
  }
  return {dx, dgamma, dbeta};
}

// The last `axes` axes are normalized.
inline OpRow layer_norm_row(const mezzo::Shape& shape, std::ptrdiff_t axes) {
  const mezzo::Shape leading(shape.begin(), shape.end() - axes), features(shape.end() - axes, shape.end());
  return {
      .op = "layer_norm",
      .note = mezzo::to_string(shape) + " over " + mezzo::to_string(features),
      .call =
          [](const mezzo::Values& v) { return mezzo::Values{mezzo::layer_norm(v[0], v[1], v[2], layer_norm_epsilon)}; },
      .arguments = {{uniform(shape, -1, 2, 1)},
                    {uniform(features, 0.5, 2, 2), Role::accumulated()},
                    {uniform(features, -1, 1, 3), Role::accumulated()}},
      .outputs = {Role::varied()},
      .plain = [leading](const TensorList& v) { return TensorList{plain_layer_norm(v, leading)[0]}; },
      .differentiable = {0, 1, 2},
      .depth = static_cast<double>(mezzo::element_count(shape))};
}

// With the statistics, which only its gradient sees.
inline OpRow layer_norm_statistics_row(const mezzo::Shape& shape, std::ptrdiff_t axes) {
  OpRow row = layer_norm_row(shape, axes);
  const mezzo::Shape leading(shape.begin(), shape.end() - axes);
  row.note += ", with statistics";
  row.call = inserted("layer_norm", {{"epsilon", layer_norm_epsilon}});
  row.outputs = {Role::varied(), Role::accumulated(), Role::accumulated()};
  row.plain = [leading](const TensorList& v) { return plain_layer_norm(v, leading); };
  row.differentiable = {};
  row.internal = true;
  return row;
}

inline OpRow layer_norm_gradient_row(const mezzo::Shape& shape, std::ptrdiff_t axes) {
  const mezzo::Shape leading(shape.begin(), shape.end() - axes), features(shape.end() - axes, shape.end());
  return {.op = "layer_norm_gradient",
          .note = mezzo::to_string(shape) + " over " + mezzo::to_string(features),
          .call = inserted("layer_norm_gradient"),
          .arguments = {{uniform(shape, -1, 1, 1)},
                        {uniform(shape, -1, 2, 2)},
                        {uniform(features, 0.5, 2, 3), Role::accumulated()},
                        {uniform(leading, -1, 1, 4), Role::accumulated()},
                        {uniform(leading, 0.5, 2, 5), Role::accumulated()}},
          .outputs = {Role::varied(), Role::accumulated(), Role::accumulated()},
          .plain = plain_layer_norm_gradient,
          .depth = static_cast<double>(mezzo::element_count(shape)),
          .internal = true};
}

inline std::vector<OpRow> layer_norm_rows() {
  std::vector<OpRow> rows;
  struct Case {
    mezzo::Shape shape;
    std::ptrdiff_t axes;
  };
  for (const Case& c : {Case{{6, 3}, 1}, Case{{2, 3, 5}, 1}, Case{{2, 3, 5}, 2}, Case{{4, 33}, 1}, Case{{7}, 1},
                        Case{{0, 3}, 1}, Case{{4, 0}, 1}, Case{{2, 0, 3}, 2}}) {
    rows.push_back(layer_norm_row(c.shape, c.axes));
    rows.push_back(layer_norm_statistics_row(c.shape, c.axes));
    rows.push_back(layer_norm_gradient_row(c.shape, c.axes));
  }
  return rows;
}

inline std::vector<Refusal> layer_norm_refusals() {
  using mezzo::ShapeError;
  using mezzo::Tensor;
  const std::string op = "layer_norm", gradient = op + "_gradient";
  const auto norm = [](const mezzo::Shape& x, const mezzo::Shape& gamma, const mezzo::Shape& beta) {
    return [=] { mezzo::layer_norm(Tensor(x), Tensor(gamma), Tensor(beta)); };
  };
  return {
      refusal<ShapeError>(op, "[layer_norm] input axis -1 must be 3 (size of gamma); got shape (2, 4)",
                          norm({2, 4}, {3}, {3})),
      refusal<ShapeError>(op, "[layer_norm] input axis -2 must be 5 (size of gamma); got shape (2, 4, 3)",
                          norm({2, 4, 3}, {5, 3}, {5, 3})),
      refusal<ShapeError>(op, "[layer_norm] input axis -1 must be 2 (size of beta); got shape (2, 3)",
                          norm({2, 3}, {3}, {2})),
      refusal<ShapeError>(op, "[layer_norm] beta must have the shape of gamma, (3,); got (2, 3)",
                          norm({2, 3}, {3}, {2, 3})),
      refusal<ShapeError>(op, "[layer_norm] gamma must have from 1 to 1 axes (those of the input); got shape (2, 3)",
                          norm({3}, {2, 3}, {2, 3})),
      refusal<ShapeError>(gradient, "[layer_norm_gradient] the cotangent must have shape (2, 3); got (3, 2)",
                          [gradient] {
                            inserted(gradient)({Tensor({3, 2}), Tensor({2, 3}), Tensor({3}), Tensor({2}), Tensor({2})});
                          })};
}

}  // namespace mezzo_tests
