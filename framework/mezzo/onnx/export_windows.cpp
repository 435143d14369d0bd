#include <mezzo/onnx/export_node.hpp>

// Convolutions and pooling: ONNX's layout is channels first.
namespace mezzo::detail {
namespace {

const Shape channels_first{0, 3, 1, 2}, channels_last{0, 2, 3, 1};
const Shape kernel_to_onnx{3, 2, 0, 1};  // (kh, kw, C, F) to (F, C, kh, kw)

/// {top, bottom, left, right} as ONNX's {top, left, bottom, right}.
Shape pads(const ExportedNode& x) {
  const Shape padding = x.fixed("padding");
  return {padding[0], padding[2], padding[1], padding[3]};
}

void add_convolution(const ExportedNode& x, std::size_t kernel, ExportAttributes& attributes) {
  const Shape shape = x.fixed_shape(kernel);
  attributes = {{"kernel_shape", Shape{shape[0], shape[1]}},
                {"strides", x.fixed("strides")},
                {"pads", pads(x)},
                {"dilations", x.fixed("dilation")},
                {"group", x.number("groups")}};
}

ExportNames conv2d(const ExportedNode& x) {
  ExportAttributes attributes;
  add_convolution(x, 1, attributes);
  ExportNames operands{x.transpose(x.in(0), channels_first), x.transpose(x.in(1), kernel_to_onnx)};
  if (x.inputs.size() > 2) operands.push_back(x.graph.cast(x.in(2), x.dtype(0)));
  return {x.transpose(x.finished(x.add("Conv", operands, attributes)), channels_last)};
}

/// The gradient of a convolution for its input is a transposed convolution.
ExportNames conv2d_input_gradient(const ExportedNode& x) {
  ExportAttributes attributes;
  add_convolution(x, 1, attributes);
  const Shape kernel = x.fixed_shape(1), strides = x.fixed("strides"), dilation = x.fixed("dilation"),
              padding = x.fixed("padding");
  Shape rest;
  for (std::size_t i = 0; i < 2; ++i) {
    TracedNumber missing;
    for (std::size_t t = 0; t < x.traced.size(); ++t) {
      const std::int64_t covered = (x.shapes[0][i + 1][t] - 1) * strides[i] + dilation[i] * (kernel[i] - 1) + 1;
      missing.push_back(x.results[0][i + 1][t] - covered + padding[2 * i] + padding[2 * i + 1]);
    }
    if (!is_fixed(missing)) x.refuse("a size that depends on open sizes");
    rest.push_back(missing.front());
  }
  attributes.emplace_back("output_padding", rest);
  const DType dtype = x.dtype(0);
  const std::string y = x.add(
      "ConvTranspose",
      {x.transpose(x.in(0), channels_first), x.transpose(x.graph.cast(x.in(1), dtype), kernel_to_onnx)}, attributes);
  return {x.graph.cast(x.transpose(y, channels_last), x.result_dtype())};
}

ExportNames max_pool2d(const ExportedNode& x) {
  if (x.used.size() > 1 && x.used[1]) x.refuse("the positions of the maxima");
  const std::string y =
      x.add("MaxPool", {x.transpose(x.in(), channels_first)},
            {{"kernel_shape", x.fixed("window")}, {"strides", x.fixed("strides")}, {"pads", pads(x)}});
  return {x.transpose(y, channels_last), ""};
}

ExportNames avg_pool2d(const ExportedNode& x) {
  const std::string y = x.add("AveragePool", {x.transpose(x.in(), channels_first)},
                              {{"kernel_shape", x.fixed("window")},
                               {"strides", x.fixed("strides")},
                               {"pads", pads(x)},
                               {"count_include_pad", x.get<bool>("count_padding") ? 1 : 0}});
  return {x.transpose(y, channels_last)};
}

}  // namespace

void add_window_rules(ExportRules& rules) {
  rules["conv2d"] = conv2d;
  rules["conv2d_input_gradient"] = conv2d_input_gradient;
  rules["max_pool2d"] = max_pool2d;
  rules["avg_pool2d"] = avg_pool2d;
}

}  // namespace mezzo::detail
