#include <mezzo/layers/conv2d_transpose.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/layers/kernel_weights.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/ops/spatial.hpp>
#include <mezzo/ops/spatial_axes.hpp>

namespace mezzo {

Conv2DTranspose::Conv2DTranspose(Conv2DTransposeOptions options)
    : Layer("Conv2DTranspose", options), options_(std::move(options)) {
  detail::require_positive(label(), "filters", options_.filters);
  options_.kernel_size.pair(label(), "kernel_size");
  const Shape strides = options_.strides.pair(label(), "strides");
  options_.dilation_rate.pair(label(), "dilation_rate");
  if (options_.padding != "valid" && options_.padding != "same") {
    fail<ValueError>(label(), "padding must be valid or same; got \"{}\"", options_.padding);
  }
  if (options_.output_padding.empty()) return;
  detail::require_output_padding(label(), options_.output_padding.pair(label(), "output_padding", 0), strides);
}

void Conv2DTranspose::build(const Shape& input) {
  detail::require_rank(label(), input, 4, "(batch, height, width, channels)");
  Shape shape = options_.kernel_size.pair(label(), "kernel_size");
  shape.push_back(options_.filters);
  shape.push_back(input.back());
  add_weight(kernel_, detail::kernel_weight(options_, shape, {3, 2, 0, 1}));
  if (options_.use_bias) add_weight(bias_, detail::bias_weight(options_, {options_.filters}));
}

Value Conv2DTranspose::call(const Value& x) {
  detail::require_rank(label(), x.shape(), 4, "(batch, height, width, channels)");
  const Value y = conv_transpose(x, kernel_,
                                 {.strides = options_.strides,
                                  .padding = options_.padding,
                                  .output_padding = options_.output_padding,
                                  .dilation_rate = options_.dilation_rate});
  return options_.activation(options_.use_bias ? bias_add(y, bias_) : y);
}

}  // namespace mezzo
