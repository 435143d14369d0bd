#pragma once

#include <cmath>
#include <limits>

#include "ops/batch_norm.hpp"
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
  for (const OpRow& row : batch_norm_rows()) rows.push_back(row);
  for (const bool flag : {false, true}) {
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
