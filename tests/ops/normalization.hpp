#pragma once

#include <cmath>
#include <limits>

#include "ops/plain.hpp"

// Pooling, batch norm and the loss.
namespace mezzo_tests {

struct Pool {
  const char* note;
  mezzo::Shape x;
  mezzo::MaxPool2DOpOptions options;
  mezzo::Shape window, strides, padding;

  mezzo::Attributes attributes() const { return {{"window", window}, {"strides", strides}, {"padding", padding}}; }
};

// The maxima and where in their windows they were.
inline TensorList plain_max_pool2d(const Pool& pool, const mezzo::Tensor& x) {
  mezzo::Shape to = x.shape();
  for (std::size_t i = 0; i < 2; ++i) {
    to[i + 1] = (to[i + 1] + pool.padding[2 * i] + pool.padding[2 * i + 1] - pool.window[i]) / pool.strides[i] + 1;
  }
  mezzo::Tensor out(to, mezzo::DType::float64), places(to, mezzo::DType::uint8);
  for_each_index(to, [&](std::size_t flat, const mezzo::Shape& index) {
    double largest = -std::numeric_limits<double>::infinity();
    for_each_index(pool.window, [&](std::size_t place, const mezzo::Shape& offset) {
      mezzo::Shape from = index;
      for (std::size_t i = 0; i < 2; ++i) {
        from[i + 1] = index[i + 1] * pool.strides[i] + offset[i] - pool.padding[2 * i];
        if (from[i + 1] < 0 || from[i + 1] >= x.shape()[i + 1]) return;
      }
      if (at(x, from) <= largest) return;
      largest = at(x, from);
      places.mutable_data<std::uint8_t>()[flat] = static_cast<std::uint8_t>(place);
    });
    out.mutable_data<double>()[flat] = largest;
  });
  return {out, places};
}

inline mezzo::Tensor plain_max_pool2d_gradient(const Pool& pool, const mezzo::Tensor& g, const mezzo::Tensor& places) {
  mezzo::Tensor out(pool.x, mezzo::DType::float64);
  for_each_index(g.shape(), [&](std::size_t flat, const mezzo::Shape& index) {
    const std::int64_t place = places.data<std::uint8_t>()[flat];
    const std::int64_t row = index[1] * pool.strides[0] + place / pool.window[1] - pool.padding[0];
    const std::int64_t column = index[2] * pool.strides[1] + place % pool.window[1] - pool.padding[2];
    const std::int64_t to = ((index[0] * pool.x[1] + row) * pool.x[2] + column) * pool.x[3] + index[3];
    out.mutable_data<double>()[to] += g.data<double>()[flat];
  });
  return out;
}

inline std::vector<OpRow> pool_rows() {
  const Pool pools[] = {
      {"of 2", {2, 4, 6, 3}, {}, {2, 2}, {2, 2}, {0, 0, 0, 0}},
      {"overlapping, padded", {1, 5, 6, 2}, {.pool_size = 3, .strides = 2, .padding = 1}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
      {"same", {1, 5, 5, 2}, {.pool_size = {2, 3}, .padding = "same"}, {2, 3}, {2, 3}, {0, 1, 0, 1}},
      {"without images", {0, 4, 6, 3}, {}, {2, 2}, {2, 2}, {0, 0, 0, 0}},
      {"without channels", {2, 4, 6, 0}, {}, {2, 2}, {2, 2}, {0, 0, 0, 0}}};
  std::vector<OpRow> rows;
  for (const Pool& pool : pools) {
    rows.push_back(
        {.op = "max_pool2d",
         .note = pool.note,
         .call = [pool](const mezzo::Values& v) { return mezzo::Values{mezzo::max_pool2d(v[0], pool.options)}; },
         .arguments = {{apart(pool.x)}},
         .outputs = {Role::varied()},
         .plain = [pool](const TensorList& v) { return TensorList{plain_max_pool2d(pool, v[0])[0]}; },
         .differentiable = {0},
         .exact_on_integers = true});
    const TensorList pooled = plain_max_pool2d(pool, apart(pool.x));
    rows.push_back({.op = "max_pool2d",
                    .note = std::string(pool.note) + ", with places",
                    .call = inserted("max_pool2d", pool.attributes()),
                    .arguments = {{apart(pool.x)}},
                    .outputs = {Role::varied(), mezzo::DType::uint8},
                    .plain = [pool](const TensorList& v) { return plain_max_pool2d(pool, v[0]); }});
    mezzo::Attributes attributes = pool.attributes();
    attributes.set("shape", pool.x);
    rows.push_back(
        {.op = "max_pool2d_gradient",
         .note = pool.note,
         .call = inserted("max_pool2d_gradient", attributes),
         .arguments = {{uniform(pooled[0].shape(), -1, 1)}, {pooled[1], mezzo::DType::uint8}},
         .outputs = {Role::varied()},
         .plain = [pool](const TensorList& v) { return TensorList{plain_max_pool2d_gradient(pool, v[0], v[1])}; },
         .depth = 4,  // windows that an element lies in
         .internal = true});
  }
  return rows;
}

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

// relu(batch norm + residual), as a pass fuses them, with the statistics used.
inline OpRow fused_batch_norm_row(const mezzo::Shape& shape, bool training, bool adds) {
  const auto plain = [training, adds](const TensorList& v) {
    const TensorList norm = plain_batch_norm(v, training);
    mezzo::Tensor y = norm[0];
    if (adds) y = zip(y, v[5], [](double a, double b) { return a + b; });
    const TensorList batch = plain_statistics(v[0], norm_epsilon);
    const mezzo::Tensor inverse = map(v[4], [](double x) { return 1 / std::sqrt(x + norm_epsilon); });
    return TensorList{map(y, [](double x) { return std::max(x, 0.0); }), training ? batch[0] : v[3],
                      training ? batch[1] : inverse, norm[1], norm[2]};
  };
  OpRow row{
      .op = "batch_norm",
      .note = mezzo::to_string(shape) + (training ? " in training" : "") + (adds ? " + residual" : "") + ", relu",
      .call = inserted("batch_norm", {{"epsilon", norm_epsilon},
                                      {"momentum", norm_momentum},
                                      {"training", training},
                                      {"epilogue", mezzo::Epilogue::relu}}),
      .arguments = norm_arguments(shape),
      .outputs = {Role::varied(), Role::accumulated(), Role::accumulated(), Role::accumulated(), Role::accumulated()},
      .plain = plain,
      .depth = static_cast<double>(mezzo::element_count(shape)),
      .internal = true};
  if (adds) row.arguments.push_back({uniform(shape, -1, 1, 6)});
  return row;
}

// Its gradient, given its output; `keeps` asks for the cotangent of the relu's input.
inline OpRow fused_batch_norm_gradient_row(const mezzo::Shape& shape, bool training, bool keeps) {
  OpRow row = batch_norm_gradient_row(shape, training);
  row.note += keeps ? ", relu + residual" : ", relu";
  row.call =
      inserted("batch_norm_gradient", {{"training", training}, {"epilogue", mezzo::Epilogue::relu}, {"masked", keeps}});
  row.arguments.push_back({uniform(shape, -1, 1, 6)});
  if (keeps) row.outputs.push_back(Role::varied());
  row.plain = [training, keeps](const TensorList& v) {
    TensorList operands = v;
    operands[0] = zip(v[5], v[0], [](double y, double g) { return y > 0 ? g : 0; });
    TensorList out = plain_batch_norm_gradient(operands, training);
    if (keeps) out.push_back(operands[0]);
    return out;
  };
  return row;
}

// -log of the probability of each row's label.
inline mezzo::Tensor plain_crossentropy(const mezzo::Tensor& labels, const mezzo::Tensor& scores, bool from_logits) {
  const std::vector<double> label = labels.to_doubles();
  const std::int64_t classes = scores.shape().back();
  mezzo::Tensor out(labels.shape(), mezzo::DType::float64);
  for (std::int64_t row = 0; row < labels.size(); ++row) {
    const double* score = scores.data<double>() + row * classes;
    const auto place = static_cast<std::size_t>(row);
    double sum = 0;
    for (std::int64_t c = 0; c < classes; ++c) sum += from_logits ? std::exp(score[c]) : score[c];
    const double right = score[static_cast<std::int64_t>(label[place])];
    const double probability = from_logits ? std::exp(right) / sum : right / sum;
    out.mutable_data<double>()[row] =
        -std::log(from_logits ? probability : std::min(std::max(probability, 1e-7), 1 - 1e-7));
  }
  return out;
}

inline std::vector<Argument> loss_arguments(const mezzo::Shape& shape, bool from_logits) {
  const mezzo::Shape rows(shape.begin(), shape.end() - 1);
  const auto classes = static_cast<double>(shape.back());
  return {{integers(rows, mezzo::DType::int32, 0, classes, 1), mezzo::DType::int32},
          {from_logits ? uniform(shape, -3, 3, 2) : uniform(shape, 0.1, 1, 2)}};
}

inline OpRow crossentropy_row(const mezzo::Shape& shape, bool from_logits) {
  return {
      .op = "sparse_categorical_crossentropy",
      .note = mezzo::to_string(shape) + (from_logits ? " of logits" : " of probabilities"),
      .call =
          [from_logits](const mezzo::Values& v) {
            return mezzo::Values{mezzo::sparse_crossentropy(v[0], v[1], from_logits)};
          },
      .arguments = loss_arguments(shape, from_logits),
      .outputs = {Role::accumulated()},
      .plain = [from_logits](const TensorList& v) { return TensorList{plain_crossentropy(v[0], v[1], from_logits)}; },
      .differentiable = {1},
      .depth = static_cast<double>(shape.back())};
}

inline OpRow crossentropy_gradient_row(const mezzo::Shape& shape, bool from_logits) {
  std::vector<Argument> arguments = loss_arguments(shape, from_logits);
  arguments.push_back({uniform(arguments[0].numbers.shape(), 0.5, 2, 3), Role::accumulated()});
  const auto plain = [from_logits](const TensorList& v) {
    const std::int64_t classes = v[1].shape().back();
    const std::vector<double> label = v[0].to_doubles();
    mezzo::Tensor out(v[1].shape(), mezzo::DType::float64);
    for (std::int64_t i = 0; i < v[1].size(); ++i) {
      const std::int64_t row = i / classes;
      const double* score = v[1].data<double>() + row * classes;
      double sum = 0;
      for (std::int64_t c = 0; c < classes; ++c) sum += from_logits ? std::exp(score[c]) : score[c];
      const bool right = i % classes == static_cast<std::int64_t>(label[static_cast<std::size_t>(row)]);
      const double slope = from_logits ? std::exp(score[i % classes]) / sum - (right ? 1 : 0)
                                       : 1 / sum - (right ? 1 / score[i % classes] : 0);
      out.mutable_data<double>()[i] = v[2].data<double>()[row] * slope;
    }
    return TensorList{out};
  };
  return {.op = "sparse_categorical_crossentropy_gradient",
          .note = mezzo::to_string(shape) + (from_logits ? " of logits" : " of probabilities"),
          .call = inserted("sparse_categorical_crossentropy_gradient", {{"from_logits", from_logits}}),
          .arguments = arguments,
          .outputs = {Role::varied()},
          .plain = plain,
          .depth = static_cast<double>(shape.back()),
          .internal = true};
}

inline std::vector<OpRow> normalization_rows() {
  std::vector<OpRow> rows = pool_rows();
  for (const bool flag : {false, true}) {
    for (const mezzo::Shape& shape :
         {mezzo::Shape{6, 3}, mezzo::Shape{2, 3, 4, 5}, mezzo::Shape{20, 17}, mezzo::Shape{0, 3}, mezzo::Shape{4, 0}}) {
      rows.push_back(batch_norm_row(shape, flag));
      rows.push_back(batch_norm_gradient_row(shape, flag));
      for (const bool residual : {false, true}) {
        rows.push_back(fused_batch_norm_row(shape, flag, residual));
        rows.push_back(fused_batch_norm_gradient_row(shape, flag, residual));
      }
    }
    for (const mezzo::Shape& shape :
         {mezzo::Shape{6, 10}, mezzo::Shape{2, 3, 4}, mezzo::Shape{5, 33}, mezzo::Shape{0, 10}}) {
      rows.push_back(crossentropy_row(shape, flag));
      rows.push_back(crossentropy_gradient_row(shape, flag));
    }
  }
  return rows;
}

inline std::vector<Refusal> normalization_refusals() {
  using mezzo::DType;
  using mezzo::ShapeError;
  using mezzo::Tensor;
  const mezzo::Attributes pool{{"window", mezzo::Shape{2, 2}},
                               {"strides", mezzo::Shape{2, 2}},
                               {"padding", mezzo::Shape{0, 0, 0, 0}},
                               {"shape", mezzo::Shape{1, 4, 4, 3}}};
  const auto norm = [](const Tensor& x, const Tensor& gamma) {
    return [x, gamma] { mezzo::batch_norm(x, gamma, Tensor({3}), Tensor({3}), Tensor({3})); };
  };
  const auto loss = [](const Tensor& labels, const Tensor& scores) {
    return [labels, scores] { mezzo::sparse_crossentropy(labels, scores, true); };
  };
  const std::string entropy = "sparse_categorical_crossentropy";
  return {
      refusal<ShapeError>("max_pool2d",
                          "[max_pool2d] input 0 must have rank 4 (batch, height, width, channels); got shape (4, 4, 3)",
                          [] {
                            mezzo::max_pool2d(Tensor({4, 4, 3}));
                          }),
      refusal<ShapeError>("max_pool2d",
                          "[max_pool2d] input axis 1 must be at least 2 (pool_size 2); got shape (1, 1, 4, 3)",
                          [] {
                            mezzo::max_pool2d(Tensor({1, 1, 4, 3}));
                          }),
      refusal<mezzo::ValueError>("max_pool2d", "[max_pool2d] padding must be at most half of the window (2, 2); got 2",
                                 [] {
                                   mezzo::max_pool2d(Tensor({1, 4, 4, 3}), {.padding = 2});
                                 }),
      refusal<mezzo::ValueError>("max_pool2d",
                                 "[max_pool2d] pool_size must be one or two numbers of at least 1; got (1, 2, 3)",
                                 [] {
                                   mezzo::max_pool2d(Tensor({1, 4, 4, 3}), {.pool_size = {1, 2, 3}});
                                 }),
      refusal<ShapeError>(
          "max_pool2d_gradient", "[max_pool2d_gradient] the cotangent must have shape (1, 2, 2, 3); got (1, 4, 4, 3)",
          [pool] {
            inserted("max_pool2d_gradient", pool)({Tensor({1, 4, 4, 3}), Tensor({1, 4, 4, 3}, DType::uint8)});
          }),
      refusal<ShapeError>("batch_norm", "[batch_norm] input axis -1 must be 3 (size of gamma); got shape (2, 4)",
                          norm(Tensor({2, 4}), Tensor({3}))),
      refusal<ShapeError>("batch_norm", "[batch_norm] input must have a channel axis; got shape ()",
                          norm(Tensor(mezzo::Shape{}), Tensor({3}))),
      refusal<ShapeError>(
          "batch_norm_gradient", "[batch_norm_gradient] the cotangent must have shape (2, 3); got (3, 2)",
          [] {
            const Tensor c({3});
            inserted("batch_norm_gradient", {{"training", true}})({Tensor({3, 2}), Tensor({2, 3}), c, c, c});
          }),
      refusal<ShapeError>(
          entropy,
          "[" + entropy + "] labels must have the shape of the scores without the last axis; got (3,) and (2, 5)",
          loss(Tensor({3}, DType::int32), Tensor({2, 5}))),
      refusal<mezzo::DTypeError>(entropy, "[" + entropy + "] labels must be integers; got float32",
                                 loss(Tensor({2}), Tensor({2, 5}))),
      refusal<mezzo::DTypeError>(entropy, "[" + entropy + "] input 1 must be floating; got int64",
                                 loss(Tensor({2}, DType::int32), Tensor({2, 5}, DType::int64))),
      refusal<ShapeError>(entropy + "_gradient",
                          "[" + entropy + "_gradient] the cotangent must have shape (2,); got (2, 5)", [entropy] {
                            inserted(entropy + "_gradient", {{"from_logits", true}})(
                                {Tensor({2}, DType::int32), Tensor({2, 5}), Tensor({2, 5})});
                          })};
}

}  // namespace mezzo_tests
