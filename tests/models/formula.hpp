#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/tensor.hpp>

// Formulas of tests/parity/formula.py for images, weights and sketches of gradients.

namespace mezzo_tests {

// Number i of a stream, in [-1, 1), exact in float32, by MurmurHash3's finalizer of stream and index.
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

// Numbers of a weight with this name and shape in torch and this place in the list.
inline mezzo::Tensor weight_by_formula(const std::string& name, const mezzo::Shape& shape, std::uint32_t stream,
                                       double beta) {
  const auto ends_with = [&](const std::string& end) {
    return name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
  };
  const bool normalization = shape.size() == 1 && name.find("fc") == std::string::npos;
  const bool is_scale = normalization && (ends_with("weight") || ends_with("running_var"));
  const double center = is_scale ? 1 : normalization && ends_with("bias") ? beta : 0;
  double fan_in = 1;
  for (std::size_t axis = 1; axis < shape.size(); ++axis) fan_in *= static_cast<double>(shape[axis]);
  const double limit = std::sqrt(6 / fan_in);
  std::vector<float> out(static_cast<std::size_t>(mezzo::element_count(shape)));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double u = number(stream, static_cast<std::uint32_t>(i));
    out[i] = static_cast<float>(shape.size() > 1 ? u * limit : center + 0.25 * u);
  }
  return {shape, out};
}

// Sketch of a weight or gradient in the file's layout: its norm and eight projections.
inline std::array<double, 9> sketch(const mezzo::Tensor& weight) {
  const std::vector<double> x = weight.to_doubles();
  std::array<double, 9> out{};
  for (std::uint32_t i = 0; i < x.size(); ++i) {
    out[0] += x[i] * x[i];
    for (std::uint32_t p = 0; p < 8; ++p) out[p + 1] += x[i] * number(projections_stream + p, i);
  }
  out[0] = std::sqrt(out[0]);
  return out;
}

// Estimates |x - y| / |y| from sketches. The expected square of a projection on numbers of variance 1/3 is a third of
// the squared norm. The result is at least the relative difference of the norms. If y is exactly 0, as for the bias of
// keys, which does not change a softmax, the result is |x| / `largest`.
inline double relative_error(const std::array<double, 9>& x, const std::array<double, 9>& y, double largest) {
  double squares = 0;
  for (std::size_t p = 1; p < 9; ++p) squares += (x[p] - y[p]) * (x[p] - y[p]) * 3 / 8;
  return std::max(std::sqrt(squares), std::abs(x[0] - y[0])) / (y[0] > 0 ? y[0] : largest);
}

}  // namespace mezzo_tests
