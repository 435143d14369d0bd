#pragma once

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <mezzo/graph/gradient.hpp>
#include <mezzo/model/model.hpp>

#include "support/recorded.hpp"
#include "support/runs.hpp"
#include "support/tensors.hpp"

// The other side of tests/parity/resnet.py: its formula, its sketches, and its training step by mezzo.

namespace mezzo_tests {

// Number i of a stream, in [-1, 1), exact in float32: MurmurHash3's finalizer of stream and index.
inline double number(std::uint32_t stream, std::uint32_t i) {
  std::uint32_t h = i * 0x9E3779B1U + stream * 0x85EBCA77U;
  h = (h ^ (h >> 16U)) * 0x85EBCA6BU;
  h = (h ^ (h >> 13U)) * 0xC2B2AE35U;
  h ^= h >> 16U;
  return (h >> 8U) / 8388608.0 - 1;
}

constexpr std::uint32_t images_stream = 1000, projections_stream = 2000;

inline mezzo::Tensor images(const mezzo::Shape& shape) {
  std::vector<double> out(static_cast<std::size_t>(mezzo::element_count(shape)));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = number(images_stream, static_cast<std::uint32_t>(i));
  return {shape, out};
}

// "layer1/0/bn1/gamma" -> "layer1.0.bn1.weight".
inline std::string torch_name(std::string path) {
  const std::pair<std::string, std::string> names[] = {{"kernel", "weight"},
                                                       {"gamma", "weight"},
                                                       {"beta", "bias"},
                                                       {"moving_mean", "running_mean"},
                                                       {"moving_variance", "running_var"}};
  const std::size_t last = path.rfind('/') + 1;
  for (const auto& entry : names) {
    if (path.substr(last) == entry.first) path = path.substr(0, last) + entry.second;
  }
  std::replace(path.begin(), path.end(), '/', '.');
  return path;
}

// Between Keras' layout of a weight and torch's: HWIO and OIHW, (in, out) and (out, in).
inline mezzo::Tensor permuted(const mezzo::Tensor& x, const mezzo::Shape& order) {
  return mezzo::transpose(mezzo::Value(x), order).tensor();
}
inline mezzo::Tensor to_torch(const mezzo::Tensor& x) {
  return x.shape().size() == 4 ? permuted(x, {3, 2, 0, 1}) : x.shape().size() == 2 ? permuted(x, {1, 0}) : x;
}
inline mezzo::Tensor from_torch(const mezzo::Tensor& x) {
  return x.shape().size() == 4 ? permuted(x, {2, 3, 1, 0}) : x.shape().size() == 2 ? permuted(x, {1, 0}) : x;
}

// What a weight of that name and shape of torch's, and that place in the list, holds.
inline mezzo::Tensor weight_by_formula(const std::string& name, const mezzo::Shape& shape, std::uint32_t stream) {
  const auto ends_with = [&](const std::string& end) {
    return name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
  };
  const bool is_scale = ends_with("running_var") || (name.find("fc") == std::string::npos && ends_with("weight"));
  double fan_in = 1;
  for (std::size_t axis = 1; axis < shape.size(); ++axis) fan_in *= static_cast<double>(shape[axis]);
  const double limit = std::sqrt(6 / fan_in);
  std::vector<float> out(static_cast<std::size_t>(mezzo::element_count(shape)));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double u = number(stream, static_cast<std::uint32_t>(i));
    out[i] = static_cast<float>(shape.size() > 1 ? u * limit : is_scale ? 1 + 0.25 * u : 0.25 * u);
  }
  return {shape, out};
}

// The norm of a weight or gradient and its eight projections, in torch's layout.
inline std::array<double, 9> sketch(const mezzo::Tensor& weight) {
  const std::vector<double> x = to_torch(weight).to_doubles();
  std::array<double, 9> out{};
  for (std::uint32_t i = 0; i < x.size(); ++i) {
    out[0] += x[i] * x[i];
    for (std::uint32_t p = 0; p < 8; ++p) out[p + 1] += x[i] * number(projections_stream + p, i);
  }
  out[0] = std::sqrt(out[0]);
  return out;
}

// |x - y| / |y|, estimated from sketches: a projection of a difference on numbers of variance 1/3 is on average, as
// a square, a third of its squared norm. Never below the difference of the norms.
inline double relative_error(const std::array<double, 9>& x, const std::array<double, 9>& y) {
  double squares = 0;
  for (std::size_t p = 1; p < 9; ++p) squares += (x[p] - y[p]) * (x[p] - y[p]) * 3 / 8;
  return std::max(std::sqrt(squares), std::abs(x[0] - y[0])) / y[0];
}

struct TrainingStep {
  mezzo::Tensor logits;
  double loss = 0;
  std::map<std::string, mezzo::Tensor> gradients;  // by torch's names
};

// One compiled step: logits, loss and gradients of softmax cross-entropy; moving statistics move.
inline TrainingStep run_training_step(mezzo::Model& model, const mezzo::Tensor& x, const mezzo::Tensor& labels) {
  std::vector<std::string> names;
  const auto step = [&](const mezzo::Values& inputs) {
    const mezzo::Value logits = model(inputs[0]);
    const mezzo::Value loss = mezzo::mean(mezzo::sparse_crossentropy(inputs[1], logits, true));
    mezzo::Values weights;
    for (const auto& entry : model.named_weights()) {
      if (!entry.second.trainable()) continue;
      names.push_back(torch_name(entry.first));
      weights.push_back(entry.second);
    }
    mezzo::Values outputs = mezzo::gradients(loss, weights);
    outputs.push_back(loss);
    outputs.push_back(logits);
    return outputs;
  };
  const Tensors outputs = run_compiled(trace_step(step, {x, labels}, true), {x, labels});
  TrainingStep out{outputs[names.size() + 1], outputs[names.size()].item(), {}};
  for (std::size_t i = 0; i < names.size(); ++i) out.gradients[names[i]] = outputs[i];
  return out;
}

struct Tolerances {
  double output;
  double gradient;  // of the norm
  double moved;
};

// Compares a model's training step with a case of tests/parity/resnet.py.
inline void check_training_step(const nlohmann::json& expected, mezzo::Model& model, mezzo::DType dtype,
                                const Tolerances& tolerances) {
  const auto shape = expected.at("shape").get<mezzo::Shape>();
  model.build(shape);
  std::uint32_t place = 0;
  const auto weights = model.named_weights();
  BOOST_TEST_REQUIRE(weights.size() == expected.at("weights").size());
  std::map<std::string, mezzo::Variable> by_name;
  for (const auto& entry : weights) by_name.emplace(torch_name(entry.first), entry.second);
  for (const auto& entry : expected.at("weights")) {
    const auto name = entry.at(0).get<std::string>();
    const mezzo::Tensor value = from_torch(weight_by_formula(name, entry.at(1).get<mezzo::Shape>(), place++));
    BOOST_TEST_REQUIRE(by_name.count(name) == 1U, name << " is missing");
    by_name.at(name).assign(value);
  }

  const auto labels = expected.at("labels").get<std::vector<std::int64_t>>();
  const TrainingStep got = run_training_step(model, images(shape).cast(dtype), mezzo::Tensor({shape[0]}, labels));
  const mezzo::Tensor logits(got.logits.shape(), expected.at("logits").get<std::vector<double>>());
  BOOST_TEST(largest_difference(got.logits, logits) <= tolerances.output);
  BOOST_TEST(std::abs(got.loss - expected.at("loss").get<double>()) <= tolerances.output);
  BOOST_TEST(got.gradients.size() == expected.at("gradients").size());
  double worst = 0;
  for (const auto& entry : got.gradients) {
    const auto wanted = expected.at("gradients").at(entry.first).get<std::array<double, 9>>();
    const double error = relative_error(sketch(entry.second), wanted);
    worst = std::max(worst, error);
    BOOST_TEST(error <= tolerances.gradient, entry.first << ": gradient off by " << error);
  }
  for (const auto& entry : expected.at("moved").items()) {
    const auto wanted = entry.value().get<std::array<double, 9>>();
    const double error = relative_error(sketch(by_name.at(entry.key()).value()), wanted);
    BOOST_TEST(error <= tolerances.moved, entry.key() << ": statistic off by " << error);
  }
  BOOST_TEST_MESSAGE("logits off by " << largest_difference(got.logits, logits) << ", gradients by " << worst);
}

}  // namespace mezzo_tests
