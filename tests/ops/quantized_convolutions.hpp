#pragma once

#include "ops/products.hpp"
#include "ops/quantized.hpp"

// quantized_conv2d.
namespace mezzo_tests {

// The convolution of codes of x, in plain loops.
inline mezzo::Tensor plain_quantized_conv2d(const Convolution& c, bool is_static, const TensorList& v) {
  const std::int64_t images = c.x[0], image = images == 0 ? 0 : v[0].size() / images;
  std::vector<double> scales(static_cast<std::size_t>(images), is_static ? v[3].data<float>()[0] : 0.0);
  mezzo::Tensor codes(c.x, mezzo::DType::float64), kernel(c.kernel, mezzo::DType::float64);
  const double* const x = v[0].data<double>();
  for (std::int64_t n = 0; n < images; ++n) {
    double& scale = scales[static_cast<std::size_t>(n)];
    double most = 0;
    for (std::int64_t i = n * image; i < (n + 1) * image; ++i) most = std::max(most, std::abs(x[i]));
    if (!is_static) scale = 127 / (most + 1e-7);
    for (std::int64_t i = n * image; i < (n + 1) * image; ++i) {
      codes.mutable_data<double>()[i] = std::min(std::max(std::nearbyint(x[i] * scale), -127.0), 127.0);
    }
  }
  for (std::int64_t i = 0; i < kernel.size(); ++i) kernel.mutable_data<double>()[i] = v[1].data<std::int8_t>()[i];
  mezzo::Tensor out = plain_conv2d(c, codes, kernel);
  const std::int64_t filters = c.kernel[3], each = images == 0 ? 0 : out.size() / images;
  for (std::int64_t i = 0; i < out.size(); ++i) {
    out.mutable_data<double>()[i] /= scales[static_cast<std::size_t>(i / each)] * v[2].data<float>()[i % filters];
  }
  return out;
}

inline OpRow quantized_conv2d_row(const Convolution& c, const char* activations) {
  const bool is_static = std::string(activations) == "static";
  mezzo::Attributes attributes = c.attributes();
  attributes.set("activations", std::string(activations));
  OpRow row{
      .op = "quantized_conv2d",
      .note = std::string(c.note) + ", " + activations,
      .call = inserted("quantized_conv2d", attributes),
      .arguments = {{uniform(c.x, -1, 1, 1)},
                    {random_codes(c.kernel, 8, 2), mezzo::DType::int8},
                    {uniform({c.kernel[3]}, 50, 100, 3).cast(mezzo::DType::float32), mezzo::DType::float32}},
      .outputs = {Role::varied()},
      .plain = [c, is_static](const TensorList& v) { return TensorList{plain_quantized_conv2d(c, is_static, v)}; },
      .depth = c.depth(),
      .bfloat16_error = 0.05};
  if (is_static) row.arguments.push_back({mezzo::Tensor::scalar(150, mezzo::DType::float32), mezzo::DType::float32});
  return row;
}

// The form of frozen graphs: a bias, a residual and a relu with an upper limit.
inline OpRow finished_quantized_conv2d_row(const Convolution& c) {
  OpRow row = quantized_conv2d_row(c, "dynamic");
  row.note += " with bias, residual and limits";
  mezzo::Attributes attributes = c.attributes();
  attributes.set("activations", std::string("dynamic"));
  attributes.set("bias", true);
  attributes.set("residual", true);
  attributes.set("epilogue", mezzo::detail::Epilogue::relu);
  attributes.set("max_value", 1.5);
  row.call = inserted("quantized_conv2d", attributes);
  row.arguments.push_back({uniform({c.kernel[3]}, -1, 1, 4), Role::accumulated()});
  row.arguments.push_back({uniform(c.output(), -1, 1, 5)});
  row.plain = [c](const TensorList& v) {
    mezzo::Tensor out = plain_quantized_conv2d(c, false, v);
    for (std::int64_t i = 0; i < out.size(); ++i) {
      double& y = out.mutable_data<double>()[i];
      y += v[3].data<double>()[i % c.kernel[3]] + v[4].data<double>()[i];
      y = std::min(std::max(y, 0.0), 1.5);
    }
    return TensorList{out};
  };
  row.internal = true;
  return row;
}

inline std::vector<OpRow> quantized_convolution_rows() {
  std::vector<OpRow> rows;
  for (const Convolution& c : std::vector<Convolution>{
           {"plain", {2, 6, 5, 3}, {3, 2, 3, 4}},
           {"same, of stride 2", {2, 6, 5, 4}, {3, 3, 4, 5}, {.strides = 2, .padding = "same"}, {0, 1, 1, 1}, {2, 2}},
           {"dilated", {1, 7, 8, 2}, {3, 2, 2, 3}, {.dilation_rate = {2, 3}}, {0, 0, 0, 0}, {1, 1}, {2, 3}},
           {"in 2 groups", {2, 5, 5, 4}, {3, 3, 2, 6}, {.padding = 1, .groups = 2}, {1, 1, 1, 1}},
           {"of 1 by 1", {2, 4, 4, 5}, {1, 1, 5, 7}},
           {"without images", {0, 6, 5, 3}, {3, 2, 3, 4}},
           {"without channels", {2, 4, 5, 0}, {3, 2, 0, 4}},
           {"without filters", {2, 4, 5, 3}, {3, 2, 3, 0}}}) {
    for (const char* activations : {"dynamic", "static"}) rows.push_back(quantized_conv2d_row(c, activations));
    rows.push_back(finished_quantized_conv2d_row(c));
  }
  return rows;
}

inline std::vector<Refusal> quantized_convolution_refusals() {
  using mezzo::DType;
  using mezzo::Tensor;
  mezzo::Attributes attributes = Convolution{"", {}, {}}.attributes();
  attributes.set("activations", std::string("dynamic"));
  const auto call = [attributes](const Tensor& x, const Tensor& codes, const Tensor& scale) {
    return [=] { inserted("quantized_conv2d", attributes)({x, codes, scale}); };
  };
  const Tensor x({1, 4, 4, 2}), codes({3, 3, 2, 5}, DType::int8), scale({5});
  return {
      refusal<mezzo::DTypeError>("quantized_conv2d", "[quantized_conv2d] codes must be int8; got float32",
                                 call(x, Tensor({3, 3, 2, 5}), scale)),
      refusal<mezzo::ShapeError>("quantized_conv2d", "[quantized_conv2d] scale must have shape (5,); got shape (4,)",
                                 call(x, codes, Tensor({4}))),
      refusal<mezzo::ShapeError>("quantized_conv2d",
                                 "[quantized_conv2d] input axis -1 must be 2 (kernel channels); got shape (1, 4, 4, "
                                 "3)",
                                 call(Tensor({1, 4, 4, 3}), codes, scale)),
      refusal<mezzo::ValueError>("quantized_conv2d", "[quantized_conv2d] takes 3 operands in this form; got 4", [=] {
        inserted("quantized_conv2d", attributes)({x, codes, scale, scale});
      })};
}

}  // namespace mezzo_tests
