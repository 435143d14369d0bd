#include <mezzo/core/fail.hpp>
#include <mezzo/layers/axes.hpp>
#include <mezzo/layers/convolutional/conv2d.hpp>
#include <mezzo/layers/convolutional/conv_transpose.hpp>
#include <mezzo/layers/convolutional/kernel_weights.hpp>
#include <mezzo/nn/image_codes.hpp>
#include <mezzo/nn/weight_convolution.hpp>
#include <mezzo/ops/spatial.hpp>

namespace mezzo::detail {
namespace {

void require_conv_padding(const std::string&, const Padding&, std::size_t) {}

/// "causal" is for one axis.
void require_conv_padding(const std::string& where, const std::string& padding, std::size_t axes) {
  if (axes != 1) {
    is_same(where, padding);
  } else if (padding != "causal" && padding != "same" && padding != "valid") {
    fail_unknown(where, "padding", padding, {"causal", "same", "valid"});
  }
}

Value convolution(const Value& x, const Variable& kernel, const Conv2DOptions& options) {
  return weight_convolution(x, kernel,
                            {.strides = options.strides,
                             .padding = options.padding,
                             .dilation_rate = options.dilation_rate,
                             .groups = options.groups});
}

Value convolution(const Value& x, const Value& kernel, const ConvOptions& options) {
  const bool causal = options.padding == "causal";
  const ConvOpOptions numbers{.strides = options.strides,
                              .padding = causal ? "valid" : options.padding,
                              .dilation_rate = options.dilation_rate};
  if (!causal) return conv(x, kernel, numbers);
  const std::int64_t before = options.dilation_rate.numbers()[0] * (kernel.shape()[0] - 1);
  return conv(before == 0 ? x : pad(x, {{0, before, 0}, {0, 0, 0}}), kernel, numbers);
}

}  // namespace

template <std::size_t Axes>
ConvLayer<Axes>::ConvLayer(Options options) : Layer(kind, options), options_(std::move(options)) {
  require_positive(label(), "filters", options_.filters);
  require_positive(label(), "groups", options_.groups);
  one_for_each(label(), "kernel_size", options_.kernel_size, Axes);
  one_for_each(label(), "strides", options_.strides, Axes);
  one_for_each(label(), "dilation_rate", options_.dilation_rate, Axes);
  require_conv_padding(label(), options_.padding, Axes);
  if (options_.filters % options_.groups != 0) {
    fail<ValueError>(label(), "filters must be a multiple of groups ({}); got {}", options_.groups, options_.filters);
  }
  if (Axes == 2 && options_.groups > 1) state()->content = ChannelGroups{};
}

template <std::size_t Axes>
void ConvLayer<Axes>::build(const Shape& input) {
  require_spatial(label(), input, Axes);
  channels_ = known_size(label(), input);
  if (channels_ % options_.groups != 0) {
    fail<ShapeError>(label(), "input axis -1 must be a multiple of groups ({}); got shape {}", options_.groups, input);
  }
  Shape shape = one_for_each(label(), "kernel_size", options_.kernel_size, Axes);
  shape.push_back(channels_ / options_.groups);
  shape.push_back(options_.filters);
  add_weight(kernel_, kernel_weight(options_, shape, kernel_file_axes(Axes), first_axes(Axes + 1)));
  if (options_.use_bias) add_weight(bias_, bias_weight(options_, {options_.filters}));
}

template <std::size_t Axes>
Value ConvLayer<Axes>::call(const Value& x) {
  require_spatial(label(), x.shape(), Axes);
  require_last_axis(label(), x.shape(), channels_, "kernel channels");
  const Value y = convolution(x, kernel_, options_);
  return options_.activation(options_.use_bias ? bias_add(y, bias_) : y);
}

template <std::size_t Axes>
ConvTransposeLayer<Axes>::ConvTransposeLayer(Options options) : Layer(kind, options), options_(std::move(options)) {
  require_positive(label(), "filters", options_.filters);
  one_for_each(label(), "kernel_size", options_.kernel_size, Axes);
  const Shape strides = one_for_each(label(), "strides", options_.strides, Axes);
  one_for_each(label(), "dilation_rate", options_.dilation_rate, Axes);
  is_same(label(), options_.padding);
  if (options_.output_padding.empty()) return;
  require_output_padding(label(), one_for_each(label(), "output_padding", options_.output_padding, Axes, 0), strides);
}

template <std::size_t Axes>
void ConvTransposeLayer<Axes>::build(const Shape& input) {
  require_spatial(label(), input, Axes);
  Shape shape = one_for_each(label(), "kernel_size", options_.kernel_size, Axes);
  shape.push_back(options_.filters);
  shape.push_back(known_size(label(), input));
  Shape inputs = first_axes(Axes);
  inputs.push_back(Axes + 1);
  add_weight(kernel_, kernel_weight(options_, shape, kernel_file_axes(Axes), inputs));
  if (options_.use_bias) add_weight(bias_, bias_weight(options_, {options_.filters}));
}

template <std::size_t Axes>
Value ConvTransposeLayer<Axes>::call(const Value& x) {
  require_spatial(label(), x.shape(), Axes);
  const Value y = conv_transpose(x, kernel_,
                                 {.strides = options_.strides,
                                  .padding = options_.padding,
                                  .output_padding = options_.output_padding,
                                  .dilation_rate = options_.dilation_rate});
  return options_.activation(options_.use_bias ? bias_add(y, bias_) : y);
}

template class ConvLayer<1>;
template class ConvLayer<2>;
template class ConvLayer<3>;
template class ConvTransposeLayer<1>;
template class ConvTransposeLayer<2>;
template class ConvTransposeLayer<3>;

}  // namespace mezzo::detail
