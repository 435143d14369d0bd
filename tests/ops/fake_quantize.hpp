#pragma once

#include <algorithm>
#include <cmath>

#include <mezzo/core/convert.hpp>
#include <mezzo/core/finfo.hpp>

#include "ops/plain.hpp"

// fake_quantize and quantize_and_dequantize: numbers by plain loops. Gradients of the rounding are in
// test_fake_quantize.cpp and test_float8_products.cpp.
namespace mezzo_tests {

// Rounds the numbers at these positions, which share a scale.
inline void round_plainly(const std::vector<std::size_t>& group, const double* x, double* out, bool four, bool zero) {
  double least = 0, most = 0;
  for (const std::size_t i : group) {
    least = std::min(least, x[i]);
    most = std::max(most, zero ? x[i] : std::abs(x[i]));
  }
  const double low = four ? -8 : -127, high = four ? 7 : 127;
  for (const std::size_t i : group) {
    if (zero) {
      const double scale = (most - least + 1e-7) / 15;
      const double at = std::clamp(std::nearbyint(-least / scale) - 8, low, high);
      out[i] = (std::clamp(std::nearbyint(x[i] / scale) + at, low, high) - at) * scale;
    } else {
      const double scale = high / (most + 1e-7);
      out[i] = std::clamp(std::nearbyint(x[i] * scale), low, high) / scale;
    }
  }
}

inline OpRow fake_quantize_row(const char* note, std::int64_t bits, const mezzo::Shape& shape, std::int64_t axis,
                               std::int64_t block = -1) {
  return {.op = "fake_quantize",
          .note = note,
          .call = inserted("fake_quantize", {{"bits", bits}, {"axes", mezzo::Shape{axis}}, {"block_size", block}}),
          .arguments = {{uniform(shape, -1, 1, 5)}},
          .outputs = {Role::varied()},
          .plain =
              [=](const TensorList& v) {
                mezzo::Tensor out(shape, mezzo::DType::float64);
                const std::int64_t lines = shape[axis == 0 ? 1 : 0], size = shape[axis == 0 ? 0 : 1],
                                   width = block > 0 ? block : std::max<std::int64_t>(size, 1);
                for (std::int64_t line = 0; line < lines; ++line) {
                  for (std::int64_t begin = 0; begin < size; begin += width) {
                    std::vector<std::size_t> group;
                    for (std::int64_t k = begin; k < std::min(size, begin + width); ++k) {
                      group.push_back(static_cast<std::size_t>(axis == 0 ? k * lines + line : line * size + k));
                    }
                    round_plainly(group, v[0].data<double>(), out.mutable_data<double>(), bits == 4, block > 0);
                  }
                }
                return TensorList{out};
              },
          .ulps = 4,
          .keeps = true};
}

inline OpRow fake_quantize_by_step_row(const char* note, double step) {
  OpRow row{.op = "fake_quantize",
            .note = note,
            .call = inserted("fake_quantize",
                             {{"bits", std::int64_t{8}}, {"axes", mezzo::Shape{}}, {"block_size", std::int64_t{-1}}}),
            .arguments = {{uniform({5, 7}, -2, 2, 6)},
                          {mezzo::Tensor::scalar(step, mezzo::DType::float32), mezzo::DType::float32}},
            .outputs = {Role::varied()},
            .plain =
                [](const TensorList& v) {
                  const double by = v[1].data<float>()[0];
                  return TensorList{map(v[0], [by](double x) {
                    return by == 0 ? x : std::clamp(std::nearbyint(x * (1 / by)), -127.0, 127.0) / (1 / by);
                  })};
                },
            .ulps = 4,
            .keeps = true};
  if (step == 0) row.differentiable = {0};
  return row;
}

// A scale of 0 stands for none. Quotients by a power of two are exact in every dtype.
template <class Format>
OpRow quantize_and_dequantize_row(const char* note, double scale, const mezzo::Shape& shape = {5, 7}) {
  const mezzo::DType format = mezzo::DTypeOf<Format>::value;
  OpRow row{.op = "quantize_and_dequantize",
            .note = note,
            .call = inserted("quantize_and_dequantize", {{"format", format}}),
            .arguments = {{uniform(shape, -300, 300, 8)}},
            .outputs = {Role::varied()},
            .plain =
                [=](const TensorList& v) {
                  const double by = scale == 0 ? 1 : scale, limit = mezzo::finfo(format).max;
                  return TensorList{map(v[0], [&](double x) {
                    return mezzo::convert<double>(mezzo::convert<Format>(std::clamp(x / by, -limit, limit))) * by;
                  })};
                },
            .keeps = true};
  if (scale != 0) {
    row.arguments.push_back({mezzo::Tensor::scalar(scale, mezzo::DType::float32), mezzo::DType::float32});
  }
  return row;
}

inline std::vector<OpRow> fake_quantize_rows() {
  return {fake_quantize_row("8 bits by column", 8, {5, 7}, 0),
          fake_quantize_row("8 bits by row", 8, {5, 7}, 1),
          fake_quantize_row("4 bits by column", 4, {5, 7}, 0),
          fake_quantize_row("4 bits in blocks of rows", 4, {5, 7}, 0, 2),
          fake_quantize_row("4 bits in blocks of columns", 4, {5, 7}, 1, 3),
          fake_quantize_row("no rows", 8, {0, 4}, 1),
          fake_quantize_by_step_row("by a step", 1.0 / 128),
          fake_quantize_by_step_row("without a step yet", 0),
          quantize_and_dequantize_row<mezzo::float8_e4m3fn>("e4m3fn", 0.25),
          quantize_and_dequantize_row<mezzo::float8_e5m2>("e5m2", 1.0 / 1024),
          quantize_and_dequantize_row<mezzo::bfloat16>("bfloat16", 0),
          quantize_and_dequantize_row<mezzo::float8_e5m2>("e5m2 without rows", 1, {0, 4})};
}

inline std::vector<Refusal> fake_quantize_refusals() {
  const mezzo::Attributes eight{{"bits", std::int64_t{8}}, {"axes", mezzo::Shape{0}}, {"block_size", std::int64_t{2}}};
  return {
      refusal<mezzo::ValueError>("fake_quantize", "[fake_quantize] blocks need 4 bits; got 8",
                                 [=] {
                                   inserted("fake_quantize", eight)({mezzo::Tensor({2, 4})});
                                 }),
      refusal<mezzo::DTypeError>(
          "quantize_and_dequantize",
          "[quantize_and_dequantize] format must be float8_e4m3fn, float8_e5m2 or bfloat16; got float16",
          [] {
            inserted("quantize_and_dequantize", {{"format", mezzo::DType::float16}})({mezzo::Tensor({2, 4})});
          }),
      refusal<mezzo::ShapeError>("quantize_and_dequantize",
                                 "[quantize_and_dequantize] scale must be float32 of shape (); got float32 (2,)", [] {
                                   inserted("quantize_and_dequantize", {{"format", mezzo::DType::float8_e5m2}})(
                                       {mezzo::Tensor({2, 4}), mezzo::Tensor({2})});
                                 })};
}

}  // namespace mezzo_tests
