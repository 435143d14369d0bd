#include <mezzo/layers/conv2d.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/layers/kernel_weights.hpp>
#include <mezzo/nn/checks.hpp>

namespace mezzo {

Conv2D::Conv2D(Conv2DOptions options) : Layer("Conv2D", options), options_(std::move(options)) {
  detail::require_positive(label(), "filters", options_.filters);
  detail::require_positive(label(), "groups", options_.groups);
  options_.kernel_size.pair(label(), "kernel_size");
  options_.strides.pair(label(), "strides");
  options_.dilation_rate.pair(label(), "dilation_rate");
  if (options_.filters % options_.groups != 0) {
    fail<ValueError>(label(), "filters must be a multiple of groups ({}); got {}", options_.groups, options_.filters);
  }
}

void Conv2D::build(const Shape& input) {
  detail::require_rank(label(), input, 4, "(batch, height, width, channels)");
  if (input.back() % options_.groups != 0) {
    fail<ShapeError>(label(), "input axis -1 must be a multiple of groups ({}); got shape {}", options_.groups, input);
  }
  Shape shape = options_.kernel_size.pair(label(), "kernel_size");
  shape.push_back(input.back() / options_.groups);
  shape.push_back(options_.filters);
  add_weight(kernel_, detail::kernel_weight(options_, shape, {3, 2, 0, 1}));
  if (options_.use_bias) add_weight(bias_, detail::bias_weight(options_, {options_.filters}));
}

Value Conv2D::call(const Value& x) {
  const Value y = conv2d(x, kernel_,
                         {.strides = options_.strides,
                          .padding = options_.padding,
                          .dilation_rate = options_.dilation_rate,
                          .groups = options_.groups});
  return options_.activation(options_.use_bias ? bias_add(y, bias_) : y);
}

}  // namespace mezzo
