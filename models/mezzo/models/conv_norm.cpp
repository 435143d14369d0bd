#include <mezzo/models/conv_norm.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <mezzo/initializers/variance_scaling.hpp>
#include <mezzo/layers/activations/activation.hpp>

namespace mezzo::detail {

Conv2D convolution(const ConvNormOptions& options, bool use_bias, const std::string& name) {
  return Conv2D(
      {.filters = options.filters,
       .kernel_size = options.kernel_size,
       .strides = options.strides,
       .padding = options.same_padding ? Padding("same") : Padding(options.kernel_size / 2),
       .groups = options.groups,
       .use_bias = use_bias,
       .kernel_initializer = VarianceScaling({.scale = 2, .mode = "fan_out", .distribution = "untruncated_normal"}),
       .name = name});
}

Sequential conv_norm(const ConvNormOptions& options, const std::string& name) {
  std::vector<Any<Layer>> layers{
      convolution(options, false, "0"),
      BatchNormalization({.momentum = options.momentum, .epsilon = options.epsilon, .name = "1"})};
  if (options.activation.given()) {
    layers.emplace_back(Activation({.activation = options.activation, .name = "2"}));
  }
  return Sequential(std::move(layers), {.name = name});
}

std::string NumberedLayers::name() const { return fmt::format("{}", layers_.size()); }

std::int64_t rounded_channels(double channels) {
  const auto rounded = std::max<std::int64_t>(8, static_cast<std::int64_t>(channels + 4) / 8 * 8);
  return static_cast<double>(rounded) < 0.9 * channels ? rounded + 8 : rounded;
}

}  // namespace mezzo::detail
