#include <algorithm>
#include <array>
#include <utility>

#include <mezzo/onnx/export_node.hpp>

// Convolutions and pooling: ONNX's layout is channels first.
namespace mezzo::detail {
namespace {

const Shape channels_first{0, 3, 1, 2}, channels_last{0, 2, 3, 1};
const Shape kernel_to_onnx{3, 2, 0, 1};  // (kh, kw, C, F) to (F, C, kh, kw)

/// Size of a window along an axis, and the step to the next one.
struct Window {
  std::int64_t size, stride;
};

/// Elements in front of and behind an axis that TensorFlow's "same" adds, the odd one behind.
std::pair<std::int64_t, std::int64_t> same_padding(std::int64_t size, const Window& window) {
  const std::int64_t steps = (size + window.stride - 1) / window.stride;
  const std::int64_t both = std::max<std::int64_t>((steps - 1) * window.stride + window.size - size, 0);
  return {both / 2, both - both / 2};
}

/// The padding {top, bottom, left, right}; if it depends on open sizes, by ONNX's rule for "same".
ExportAttribute padding(const ExportedNode& x, const std::array<Window, 2>& windows) {
  const TracedShape sides = x.numbers("padding");
  if (std::all_of(sides.begin(), sides.end(), is_fixed)) {
    const Shape fixed = x.fixed("padding");
    return {"pads", Shape{fixed[0], fixed[2], fixed[1], fixed[3]}};
  }
  for (std::size_t axis = 0; axis < 2; ++axis) {
    for (std::size_t t = 0; t < x.traced.size(); ++t) {
      const auto [before, after] = same_padding(x.shapes[0][axis + 1][t], windows[axis]);
      if (sides[2 * axis][t] != before || sides[2 * axis + 1][t] != after)
        x.refuse("padding that depends on open sizes");
    }
  }
  return {"auto_pad", "SAME_UPPER"};
}

ExportAttributes convolution(const ExportedNode& x) {
  const Shape shape = x.fixed_shape(1), strides = x.fixed("strides"), dilation = x.fixed("dilation");
  return {{"kernel_shape", Shape{shape[0], shape[1]}},
          {"strides", strides},
          {"dilations", dilation},
          {"group", x.number("groups")}};
}

ExportAttributes pooling(const ExportedNode& x) {
  const Shape window = x.fixed("window"), strides = x.fixed("strides");
  return {{"kernel_shape", window},
          {"strides", strides},
          padding(x, {Window{window[0], strides[0]}, Window{window[1], strides[1]}})};
}

ExportNames conv2d(const ExportedNode& x) {
  const std::string bias = x.inputs.size() > 2 ? x.graph.cast(x.in(2), x.dtype(0)) : "";
  return {x.finished(exported_convolution(x, x.in(0), x.in(1), bias))};
}

/// The gradient of a convolution for its input is a transposed convolution.
ExportNames conv2d_input_gradient(const ExportedNode& x) {
  ExportAttributes attributes = convolution(x);
  const Shape kernel = x.fixed_shape(1), strides = x.fixed("strides"), dilation = x.fixed("dilation"),
              sides = x.fixed("padding");
  attributes.emplace_back("pads", Shape{sides[0], sides[2], sides[1], sides[3]});
  Shape rest;
  for (std::size_t i = 0; i < 2; ++i) {
    TracedNumber missing;
    for (std::size_t t = 0; t < x.traced.size(); ++t) {
      const std::int64_t covered = (x.shapes[0][i + 1][t] - 1) * strides[i] + dilation[i] * (kernel[i] - 1) + 1;
      missing.push_back(x.results[0][i + 1][t] - covered + sides[2 * i] + sides[2 * i + 1]);
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
  return {x.transpose(x.add("MaxPool", {x.transpose(x.in(), channels_first)}, pooling(x)), channels_last), ""};
}

ExportNames avg_pool2d(const ExportedNode& x) {
  ExportAttributes attributes = pooling(x);
  attributes.emplace_back("count_include_pad", x.get<bool>("count_padding") ? 1 : 0);
  return {x.transpose(x.add("AveragePool", {x.transpose(x.in(), channels_first)}, attributes), channels_last)};
}

}  // namespace

std::string exported_convolution(const ExportedNode& x, const std::string& images, const std::string& kernel,
                                 const std::string& bias) {
  ExportAttributes attributes = convolution(x);
  const Shape sizes = x.fixed_shape(1), strides = x.fixed("strides"), dilation = x.fixed("dilation");
  attributes.push_back(padding(
      x, {Window{dilation[0] * (sizes[0] - 1) + 1, strides[0]}, Window{dilation[1] * (sizes[1] - 1) + 1, strides[1]}}));
  ExportNames operands{x.transpose(images, channels_first), x.transpose(kernel, kernel_to_onnx)};
  if (!bias.empty()) operands.push_back(bias);
  return x.transpose(x.add("Conv", operands, attributes), channels_last);
}

void add_window_rules(ExportRules& rules) {
  rules["conv2d"] = conv2d;
  rules["conv2d_input_gradient"] = conv2d_input_gradient;
  rules["max_pool2d"] = max_pool2d;
  rules["avg_pool2d"] = avg_pool2d;
}

}  // namespace mezzo::detail
