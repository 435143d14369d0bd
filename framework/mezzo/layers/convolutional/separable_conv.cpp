#include <mezzo/layers/convolutional/separable_conv.hpp>

#include <mezzo/layers/axes.hpp>
#include <mezzo/layers/convolutional/depthwise_conv.hpp>
#include <mezzo/layers/convolutional/kernel_weights.hpp>
#include <mezzo/ops/spatial.hpp>

namespace mezzo::detail {
namespace {

/// Options that depthwise and separable convolutions have. Returns the sizes of the kernel.
template <class Options>
Shape require_depthwise(const std::string& where, const Options& options, std::size_t axes) {
  require_positive(where, "depth_multiplier", options.depth_multiplier);
  one_for_each(where, "strides", options.strides, axes);
  one_for_each(where, "dilation_rate", options.dilation_rate, axes);
  is_same(where, options.padding);
  return one_for_each(where, "kernel_size", options.kernel_size, axes);
}

/// Kernel (sizes..., channels, depth_multiplier); in files (channels depth_multiplier, 1, sizes...), as torch's.
template <class Options>
WeightOptions depthwise_weight(const Options& options, Shape shape, std::int64_t channels) {
  const auto axes = static_cast<std::int64_t>(shape.size());
  WeightOptions weight{.initializer = options.depthwise_initializer,
                       .regularizer = options.depthwise_regularizer,
                       .constraint = options.depthwise_constraint,
                       .file_name = "weight",
                       .file_axes = {axes, axes + 1},
                       .file_shape = {channels * options.depth_multiplier, 1},
                       .quantizable = {.inputs = first_axes(shape.size())}};
  for (std::int64_t i = 0; i < axes; ++i) {
    weight.file_axes.push_back(i);
    weight.file_shape.push_back(shape[static_cast<std::size_t>(i)]);
  }
  shape.push_back(channels);
  shape.push_back(options.depth_multiplier);
  weight.shape = shape;
  return weight;
}

template <class Options>
ConvOpOptions depthwise_numbers(const Options& options) {
  return {.strides = options.strides, .padding = options.padding, .dilation_rate = options.dilation_rate};
}

}  // namespace

template <std::size_t Axes>
DepthwiseConvLayer<Axes>::DepthwiseConvLayer(Options options) : Layer(kind, options), options_(std::move(options)) {
  require_depthwise(label(), options_, Axes);
}

template <std::size_t Axes>
void DepthwiseConvLayer<Axes>::build(const Shape& input) {
  require_spatial(label(), input, Axes);
  add_weight(kernel_,
             depthwise_weight(options_, require_depthwise(label(), options_, Axes), known_size(label(), input)));
  if (options_.use_bias)
    add_weight(bias_, bias_weight(options_, {known_size(label(), input) * options_.depth_multiplier}));
}

template <std::size_t Axes>
Value DepthwiseConvLayer<Axes>::call(const Value& x) {
  require_spatial(label(), x.shape(), Axes);
  const Value y = depthwise_conv(x, kernel_, depthwise_numbers(options_));
  return options_.activation(options_.use_bias ? bias_add(y, bias_) : y);
}

template <std::size_t Axes>
SeparableConvLayer<Axes>::SeparableConvLayer(Options options) : Layer(kind, options), options_(std::move(options)) {
  require_positive(label(), "filters", options_.filters);
  require_depthwise(label(), options_, Axes);
}

template <std::size_t Axes>
void SeparableConvLayer<Axes>::build(const Shape& input) {
  require_spatial(label(), input, Axes);
  WeightOptions depthwise =
      depthwise_weight(options_, require_depthwise(label(), options_, Axes), known_size(label(), input));
  depthwise.file_name = "depthwise.weight";
  add_weight(depthwise_kernel_, depthwise);
  Shape shape(Axes, 1);
  shape.push_back(known_size(label(), input) * options_.depth_multiplier);
  shape.push_back(options_.filters);
  add_weight(pointwise_kernel_, {.shape = shape,
                                 .initializer = options_.pointwise_initializer,
                                 .regularizer = options_.pointwise_regularizer,
                                 .constraint = options_.pointwise_constraint,
                                 .file_name = "pointwise.weight",
                                 .file_axes = kernel_file_axes(Axes),
                                 .quantizable = {.inputs = first_axes(Axes + 1)}});
  if (!options_.use_bias) return;
  WeightOptions bias = bias_weight(options_, {options_.filters});
  bias.file_name = "pointwise.bias";
  add_weight(bias_, bias);
}

template <std::size_t Axes>
Value SeparableConvLayer<Axes>::call(const Value& x) {
  require_spatial(label(), x.shape(), Axes);
  const Value y = separable_conv(x, depthwise_kernel_, pointwise_kernel_, depthwise_numbers(options_));
  return options_.activation(options_.use_bias ? bias_add(y, bias_) : y);
}

template class DepthwiseConvLayer<1>;
template class DepthwiseConvLayer<2>;
template class SeparableConvLayer<1>;
template class SeparableConvLayer<2>;

}  // namespace mezzo::detail
