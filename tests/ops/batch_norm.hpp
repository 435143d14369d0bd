#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "ops/plain.hpp"

// Rows of batch_norm and its gradient.
namespace mezzo_tests {

// Mean and inverse deviation of each channel, over all axes but the last.
inline TensorList plain_statistics(const mezzo::Tensor& x, double epsilon) {
  const std::int64_t channels = x.shape().back();
  const double rows = static_cast<double>(x.size()) / static_cast<double>(channels);
  mezzo::Tensor mean({channels}, mezzo::DType::float64), variance = mean;
  const double none = std::numeric_limits<double>::quiet_NaN();  // the mean of no elements
  if (x.size() == 0) mean = variance = map(mean, [none](double) { return none; });
  for (std::int64_t i = 0; i < x.size(); ++i) {
    mean.mutable_data<double>()[i % channels] += x.data<double>()[i] / rows;
  }
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const double off = x.data<double>()[i] - mean.data<double>()[i % channels];
    variance.mutable_data<double>()[i % channels] += off * off / rows;
  }
  return {mean, map(variance, [epsilon](double v) { return 1 / std::sqrt(v + epsilon); }), variance};
}

constexpr double norm_epsilon = 1e-2, norm_momentum = 0.9;

// y, moving mean, moving variance from x, gamma, beta, moving mean, moving variance.
inline TensorList plain_batch_norm(const TensorList& v, bool training) {
  const TensorList batch = plain_statistics(v[0], norm_epsilon);
  const mezzo::Tensor& mean = training ? batch[0] : v[3];
  const mezzo::Tensor inverse =
      training ? batch[1] : map(v[4], [](double x) { return 1 / std::sqrt(x + norm_epsilon); });
  const auto times = [](double a, double b) { return a * b; };
  const mezzo::Tensor centred = zip(v[0], mean, [](double x, double m) { return x - m; });
  const mezzo::Tensor y =
      zip(zip(zip(centred, inverse, times), v[1], times), v[2], [](double a, double b) { return a + b; });
  const auto moved_on = [](double old, double now) { return norm_momentum * old + (1 - norm_momentum) * now; };
  if (!training) return {y, v[3], v[4]};
  return {y, zip(v[3], batch[0], moved_on), zip(v[4], batch[2], moved_on)};
}

inline std::vector<Argument> norm_arguments(const mezzo::Shape& shape) {
  const mezzo::Shape channels{shape.back()};
  return {{uniform(shape, -1, 2, 1)},
          {uniform(channels, 0.5, 2, 2), Role::accumulated()},
          {uniform(channels, -1, 1, 3), Role::accumulated()},
          {uniform(channels, -1, 1, 4), Role::accumulated()},
          {uniform(channels, 0.5, 2, 5), Role::accumulated()}};
}

inline OpRow batch_norm_row(const mezzo::Shape& shape, bool training) {
  return {.op = "batch_norm",
          .note = mezzo::to_string(shape) + (training ? " in training" : ""),
          .call =
              [](const mezzo::Values& v) {
                const mezzo::BatchNormResult out = mezzo::batch_norm(
                    v[0], v[1], v[2], v[3], v[4], {.epsilon = norm_epsilon, .momentum = norm_momentum});
                return mezzo::Values{out.y, out.moving_mean, out.moving_variance};
              },
          .arguments = norm_arguments(shape),
          .outputs = {Role::varied(), Role::accumulated(), Role::accumulated()},
          .plain = [training](const TensorList& v) { return plain_batch_norm(v, training); },
          .differentiable = {0, 1, 2},
          .depth = static_cast<double>(mezzo::element_count(shape)),
          .training = training};
}

// Ioffe and Szegedy's formulas; the statistics are constants where not training.
inline TensorList plain_batch_norm_gradient(const TensorList& v, bool training) {
  const mezzo::Tensor &g = v[0], &x = v[1], &gamma = v[2], &mean = v[3], &inverse = v[4];
  const std::int64_t channels = gamma.size();
  const double rows = static_cast<double>(x.size()) / static_cast<double>(channels);
  mezzo::Tensor dgamma({channels}, mezzo::DType::float64), dbeta = dgamma, dx(x.shape(), mezzo::DType::float64);
  const auto normalized = [&](std::int64_t i) {
    const std::int64_t c = i % channels;
    return (x.data<double>()[i] - mean.data<double>()[c]) * inverse.data<double>()[c];
  };
  for (std::int64_t i = 0; i < x.size(); ++i) {
    dgamma.mutable_data<double>()[i % channels] += g.data<double>()[i] * normalized(i);
    dbeta.mutable_data<double>()[i % channels] += g.data<double>()[i];
  }
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const std::int64_t c = i % channels;
    double inner = g.data<double>()[i];
    if (training) inner -= (dbeta.data<double>()[c] + normalized(i) * dgamma.data<double>()[c]) / rows;
    dx.mutable_data<double>()[i] = gamma.data<double>()[c] * inverse.data<double>()[c] * inner;
  }
  return {dx, dgamma, dbeta};
}

inline OpRow batch_norm_gradient_row(const mezzo::Shape& shape, bool training) {
  const mezzo::Shape channels{shape.back()};
  return {.op = "batch_norm_gradient",
          .note = mezzo::to_string(shape) + (training ? " in training" : ""),
          .call = inserted("batch_norm_gradient", {{"training", training}}),
          .arguments = {{uniform(shape, -1, 1, 1)},
                        {uniform(shape, -1, 2, 2)},
                        {uniform(channels, 0.5, 2, 3), Role::accumulated()},
                        {uniform(channels, -1, 1, 4), Role::accumulated()},
                        {uniform(channels, 0.5, 2, 5), Role::accumulated()}},
          .outputs = {Role::varied(), Role::accumulated(), Role::accumulated()},
          .plain = [training](const TensorList& v) { return plain_batch_norm_gradient(v, training); },
          .depth = static_cast<double>(mezzo::element_count(shape)),
          .internal = true};
}

// relu, or relu6 if `limited`, of batch norm + residual, as a pass fuses them, with the statistics used and, without a
// residual, the shift.
inline OpRow fused_batch_norm_row(const mezzo::Shape& shape, bool training, bool adds, bool limited) {
  const double most = limited ? 6 : std::numeric_limits<double>::infinity();
  const auto plain = [training, adds, most](const TensorList& v) {
    const TensorList norm = plain_batch_norm(v, training);
    mezzo::Tensor y = norm[0];
    if (adds) y = zip(y, v[5], [](double a, double b) { return a + b; });
    const TensorList batch = plain_statistics(v[0], norm_epsilon);
    const mezzo::Tensor inverse = map(v[4], [](double x) { return 1 / std::sqrt(x + norm_epsilon); });
    TensorList out{map(y, [most](double x) { return std::min(std::max(x, 0.0), most); }), training ? batch[0] : v[3],
                   training ? batch[1] : inverse, norm[1], norm[2]};
    const bool empty = training && v[0].size() == 0;  // no mean to be normalized about
    if (!adds) out.push_back(empty ? batch[0] : v[2]);
    return out;
  };
  mezzo::Attributes attributes{{"epsilon", norm_epsilon},
                               {"momentum", norm_momentum},
                               {"training", training},
                               {"epilogue", mezzo::detail::Epilogue::relu},
                               {"shift", !adds}};
  if (limited) attributes.set("max_value", most);
  OpRow row{
      .op = "batch_norm",
      .note = mezzo::to_string(shape) + (training ? " in training" : "") + (adds ? " + residual" : "") +
              (limited ? ", relu6" : ", relu"),
      .call = inserted("batch_norm", attributes),
      .arguments = norm_arguments(shape),
      .outputs = {Role::varied(), Role::accumulated(), Role::accumulated(), Role::accumulated(), Role::accumulated()},
      .plain = plain,
      .depth = static_cast<double>(mezzo::element_count(shape)),
      .internal = true};
  if (limited) row.arguments[2].numbers = uniform({shape.back()}, 2, 6, 3);
  if (adds) row.arguments.push_back({uniform(shape, -1, 1, 6)});
  if (!adds) row.outputs.push_back(Role::accumulated());
  return row;
}

// Its gradient, given its output or, with `shifts`, its shift; `keeps` asks for the cotangent of the relu's input.
inline OpRow fused_batch_norm_gradient_row(const mezzo::Shape& shape, bool training, bool keeps, bool shifts,
                                           bool limited) {
  const double most = limited ? 6 : std::numeric_limits<double>::infinity();
  OpRow row = batch_norm_gradient_row(shape, training);
  row.note += std::string(limited ? ", relu6" : ", relu") + (keeps ? " + residual" : "") + (shifts ? ", by shift" : "");
  mezzo::Attributes attributes{
      {"training", training}, {"epilogue", mezzo::detail::Epilogue::relu}, {"masked", keeps}, {"shift", shifts}};
  if (limited) attributes.set("max_value", most);
  row.call = inserted("batch_norm_gradient", attributes);
  if (shifts) {
    row.arguments.push_back({uniform({shape.back()}, -1, 7, 6), Role::accumulated()});
  } else {
    row.arguments.push_back({uniform(shape, -2, limited ? 8 : 2, 6)});
  }
  if (keeps) row.outputs.push_back(Role::varied());
  row.plain = [training, keeps, shifts, most](const TensorList& v) {
    const auto times = [](double a, double b) { return a * b; };
    const auto plus = [](double a, double b) { return a + b; };
    mezzo::Tensor y = v[5];
    if (shifts) {
      const mezzo::Tensor centred = zip(v[1], v[3], [](double x, double mean) { return x - mean; });
      y = zip(zip(zip(centred, v[2], times), v[4], times), v[5], plus);
    }
    TensorList operands = v;
    operands[0] = zip(y, v[0], [most](double at, double g) { return at > 0 && at < most ? g : 0; });
    TensorList out = plain_batch_norm_gradient(operands, training);
    if (keeps) out.push_back(operands[0]);
    return out;
  };
  return row;
}

inline std::vector<OpRow> batch_norm_rows() {
  std::vector<OpRow> rows;
  for (const bool flag : {false, true}) {
    for (const mezzo::Shape& shape :
         {mezzo::Shape{6, 3}, mezzo::Shape{2, 3, 4, 5}, mezzo::Shape{20, 17}, mezzo::Shape{0, 3}, mezzo::Shape{4, 0}}) {
      rows.push_back(batch_norm_row(shape, flag));
      rows.push_back(batch_norm_gradient_row(shape, flag));
      for (const bool limited : {false, true}) {
        for (const bool residual : {false, true}) {
          rows.push_back(fused_batch_norm_row(shape, flag, residual, limited));
          for (const bool shifts : {false, true}) {
            rows.push_back(fused_batch_norm_gradient_row(shape, flag, residual, shifts, limited));
          }
        }
      }
    }
  }
  return rows;
}

}  // namespace mezzo_tests
