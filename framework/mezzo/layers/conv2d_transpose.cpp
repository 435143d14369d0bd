#include <mezzo/layers/conv2d_transpose.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

/// Size of the output along an axis, and what the convolution whose gradient this is pads in front and at the end.
struct Extent {
  std::int64_t size, before, after;
};

/// `kernel`: with dilation. `added`: output_padding, -1 if not given.
Extent extent_of(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t added, bool same) {
  // Zeros around the input with stride - 1 zeros between its elements, over which the turned kernel slides.
  std::int64_t front = kernel - 1, both = 0;
  if (same) {
    both = added < 0 ? stride + kernel - 2 : kernel + kernel % 2 - 2 + added;
    front = std::min((both + 1) / 2, kernel - 1);
  } else {
    both = 2 * (kernel - 1) + (added < 0 ? std::max<std::int64_t>(stride - kernel, 0) : added);
  }
  return {.size = (size - 1) * stride + 2 + both - kernel,
          .before = kernel - 1 - front,
          .after = std::max<std::int64_t>(kernel - 1 - (both - front), 0)};
}

}  // namespace

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
  const Shape added = options_.output_padding.pair(label(), "output_padding", 0);
  if (added[0] >= strides[0] || added[1] >= strides[1]) {
    fail<ValueError>(label(), "output_padding must be less than strides, {}; got {}", strides, added);
  }
}

void Conv2DTranspose::build(const Shape& input) {
  detail::require_rank(label(), input, 4, "(batch, height, width, channels)");
  Shape shape = options_.kernel_size.pair(label(), "kernel_size");
  shape.push_back(options_.filters);
  shape.push_back(input.back());
  add_weight(kernel_, {.shape = shape,
                       .initializer = options_.kernel_initializer,
                       .regularizer = options_.kernel_regularizer,
                       .constraint = options_.kernel_constraint,
                       .file_name = "weight",
                       .file_axes = {3, 2, 0, 1}});
  if (options_.use_bias) {
    add_weight(bias_, {.shape = {options_.filters},
                       .initializer = options_.bias_initializer,
                       .regularizer = options_.bias_regularizer,
                       .constraint = options_.bias_constraint});
  }
}

Value Conv2DTranspose::call(const Value& x) {
  const Shape& images = x.shape();
  detail::require_rank(label(), images, 4, "(batch, height, width, channels)");
  detail::require_last_axis(label(), images, kernel_.shape()[3], "channels of kernel");
  if (images[1] < 1 || images[2] < 1) {
    fail<ShapeError>(label(), "height and width must be known, and at least 1; got shape {}", images);
  }
  const Shape strides = options_.strides.pair(label(), "strides");
  const Shape dilation = options_.dilation_rate.pair(label(), "dilation_rate");
  const bool given = !options_.output_padding.empty();
  const Shape added = given ? options_.output_padding.pair(label(), "output_padding", 0) : Shape{-1, -1};
  Shape out{images[0], 0, 0, options_.filters}, padding;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t kernel = dilation[i] * (kernel_.shape()[i] - 1) + 1;
    const Extent extent = extent_of(images[i + 1], kernel, strides[i], added[i], options_.padding == "same");
    out[i + 1] = extent.size;
    padding.push_back(extent.before);
    padding.push_back(extent.after);
  }
  const Value y = insert_one(ops::conv2d_input_gradient, {x, kernel_},
                             {{"strides", strides},
                              {"padding", padding},
                              {"dilation", dilation},
                              {"groups", std::int64_t{1}},
                              {"shape", out}});
  return options_.activation(options_.use_bias ? bias_add(y, bias_) : y);
}

}  // namespace mezzo
