#include <mezzo/ops/spatial.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/indexing.hpp>
#include <mezzo/ops/listed.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/open_sizes.hpp>
#include <mezzo/ops/spatial_axes.hpp>

// Convolutions computed as convolutions of images. Lines are images of height 1. For volumes, the elements of the
// windows along the depth become channels, so that one convolution accumulates all products.
namespace mezzo {
namespace {

/// Geometry of a convolution of images.
struct Plane {
  Shape strides, padding, dilation;
  std::int64_t groups = 1;

  Attributes attributes() const {
    return {{"strides", strides}, {"padding", padding}, {"dilation", dilation}, {"groups", groups}};
  }
};

/// {1, number} for the one axis of lines, the last two numbers otherwise.
Shape of_plane(const Shape& numbers) { return {numbers.size() == 1 ? 1 : numbers[numbers.size() - 2], numbers.back()}; }

/// Joins the axes of windows along the depth with the channels of their group: volumes (N, D, H, W, C) to images
/// (N positions, H, W, groups taps C / groups).
Value depth_windows(const Value& x, std::int64_t taps, std::int64_t stride, std::int64_t dilation, std::int64_t count,
                    std::int64_t groups) {
  const Shape& shape = x.shape();
  const std::int64_t images = detail::times(shape[0], count), channels = shape[4];
  Values parts;
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    Value part = x;
    if (stride == 1 || count == 1) {
      if (count < shape[1]) part = slice(x, {{0, tap * dilation, 0, 0, 0}, {-1, count, -1, -1, -1}});
    } else {
      Shape rows;
      for (std::int64_t i = 0; i < count; ++i) rows.push_back(tap * dilation + i * stride);
      part = take(x, detail::int64s(rows, {count}), 1);
    }
    parts.push_back(reshape(part, {images, shape[2], shape[3], groups, channels / groups}));
  }
  return reshape(parts.size() == 1 ? parts[0] : concat(parts, -1), {images, shape[2], shape[3], taps * channels});
}

/// x with zeros before and after its depth.
Value pad_depth(const Value& x, std::int64_t before, std::int64_t after) {
  return before + after == 0 ? x : pad(x, {{0, before, 0, 0, 0}, {0, after, 0, 0, 0}});
}

void require_kernel(const std::string& where, const char* name, const Value& kernel, std::size_t axes) {
  const Shape& shape = kernel.shape();
  if (shape.size() != axes + 2) {
    fail<ShapeError>(where, "{} must have rank {}; got shape {}", name, axes + 2, shape);
  }
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t size) { return size < 1; })) {
    fail<ShapeError>(where, "sizes of {} must be at least 1; got shape {}", name, shape);
  }
}

/// Throws a ShapeError unless x has this number of channels; `name` is the kernel in the text.
void require_channels(const std::string& where, const Value& x, std::int64_t channels, const char* name) {
  if (x.shape().back() != channels) {
    fail<ShapeError>(where, "input axis -1 must be {} (channels of {}); got shape {}", channels, name, x.shape());
  }
}

Value convolve(const std::string& where, const Value& x, const Value& kernel, const ConvOpOptions& options) {
  const std::size_t axes = detail::spatial_axes(where, x);
  require_kernel(where, "kernel", kernel, axes);
  const Shape strides = detail::one_for_each(where, "strides", options.strides, axes);
  const Shape dilation = detail::one_for_each(where, "dilation_rate", options.dilation_rate, axes);
  const bool same = detail::is_same(where, options.padding);
  const Shape &shape = x.shape(), &weights = kernel.shape();
  const std::int64_t channels = shape.back(), of_group = weights[axes], filters = weights.back();
  if (channels % of_group != 0) {
    fail<ShapeError>(where, "input axis -1 must be a multiple of {} (channels of kernel); got shape {}", of_group,
                     shape);
  }
  const std::int64_t groups = channels / of_group;
  if (filters % groups != 0) {
    fail<ShapeError>(where, "filters must be a multiple of groups ({}); got {}", groups, filters);
  }
  const Shape sizes(weights.begin(), weights.end() - 2);
  const detail::Windows windows = detail::windows_over(where, "kernel", x, sizes, strides, dilation, same);
  const Shape &padding = windows.padding, &counts = windows.counts;
  Plane plane{of_plane(strides), padding, of_plane(dilation), groups};
  if (axes == 2) return insert_one(ops::conv2d, {x, kernel}, plane.attributes());
  if (axes == 1) {
    plane.padding.insert(plane.padding.begin(), 2, 0);
    const Value y = insert_one(
        ops::conv1d, {reshape(x, {shape[0], 1, shape[1], channels}), reshape(kernel, {1, sizes[0], of_group, filters})},
        plane.attributes());
    return detail::reshape_result(y, {shape[0], counts[0], filters});
  }
  plane.padding.erase(plane.padding.begin(), plane.padding.begin() + 2);
  const Value images =
      depth_windows(pad_depth(x, padding[0], padding[1]), sizes[0], strides[0], dilation[0], counts[0], groups);
  const Value flat = reshape(transpose(kernel, {1, 2, 0, 3, 4}), {sizes[1], sizes[2], sizes[0] * of_group, filters});
  const Value y = insert_one(ops::conv3d, {images, flat}, plane.attributes());
  return detail::reshape_result(y, {shape[0], counts[0], counts[1], counts[2], filters});
}

/// depthwise_conv; `name` names the kernel in errors.
Value convolve_channels(const std::string& where, const char* name, const Value& x, const Value& kernel,
                        const ConvOpOptions& options) {
  const std::size_t axes = detail::spatial_axes(where, x);
  require_kernel(where, name, kernel, axes);
  Shape shape = kernel.shape();
  require_channels(where, x, shape[axes], name);
  const std::int64_t multiplier = shape[axes + 1];
  shape[axes + 1] *= shape[axes];
  shape[axes] = 1;
  // One group for each output channel: oneDNN has no fast kernel for groups with several of them.
  return convolve(where, multiplier == 1 ? x : repeat(x, multiplier, -1), reshape(kernel, shape), options);
}

/// Sizes of a transposed convolution along an axis.
struct Extent {
  std::int64_t size;         ///< of the output
  std::int64_t front, back;  ///< zeros around the input with stride - 1 zeros between its elements, over which the
                             ///< turned kernel slides
};

/// `kernel`: with dilation. `added`: output_padding, -1 if not given.
Extent extent_of(std::int64_t size, std::int64_t kernel, std::int64_t stride, std::int64_t added, bool same) {
  std::int64_t front = kernel - 1, both = 0;
  if (same) {
    both = added < 0 ? stride + kernel - 2 : kernel + kernel % 2 - 2 + added;
    front = std::min((both + 1) / 2, kernel - 1);
  } else {
    both = 2 * (kernel - 1) + (added < 0 ? std::max<std::int64_t>(stride - kernel, 0) : added);
  }
  return {.size = (size - 1) * stride + 2 + both - kernel, .front = front, .back = both - front};
}

/// A transposed convolution along the depth, as a convolution: images of its windows in x with zeros between its
/// elements.
Value transposed_depth(const Value& x, std::int64_t taps, std::int64_t stride, std::int64_t dilation,
                       const Extent& extent) {
  const Shape& shape = x.shape();
  Value spread = x;
  if (stride > 1 && shape[1] > 1) {
    const std::int64_t pixels = shape[2] * shape[3] * shape[4];
    const Value lines = reshape(x, {detail::times(shape[0], shape[1]), 1, pixels});
    const Value padded = pad(lines, {{0, 0, 0}, {0, stride - 1, 0}});
    spread = slice(reshape(padded, {shape[0], shape[1] * stride, shape[2], shape[3], shape[4]}),
                   {{0, 0, 0, 0, 0}, {-1, (shape[1] - 1) * stride + 1, -1, -1, -1}});
  }
  return depth_windows(pad_depth(spread, extent.front, extent.back), taps, 1, dilation, extent.size, 1);
}

/// op(x, kernel, options) once the sizes of x are known.
template <class Options>
Value in_sizes(Value (*op)(const Value&, const Value&, const Options&), const Options& options, const Values& inputs) {
  return with_sizes([=](const Values& xs) -> Values { return {op(xs[0], xs[1], options)}; }, inputs,
                    detail::reach_of(inputs[1].shape(), options.dilation_rate))
      .front();
}

}  // namespace

Value conv(const Value& x, const Value& kernel, const ConvOpOptions& options) {
  if (detail::has_open_size(x)) return in_sizes(conv, options, {x, kernel});
  return convolve(detail::current_label("conv"), x, kernel, options);
}

Value depthwise_conv(const Value& x, const Value& kernel, const ConvOpOptions& options) {
  if (detail::has_open_size(x)) return in_sizes(depthwise_conv, options, {x, kernel});
  return convolve_channels(detail::current_label("depthwise_conv"), "kernel", x, kernel, options);
}

Value separable_conv(const Value& x, const Value& depthwise_kernel, const Value& pointwise_kernel,
                     const ConvOpOptions& options) {
  if (detail::has_open_size(x)) {
    return with_sizes([options](const Values& xs) -> Values { return {separable_conv(xs[0], xs[1], xs[2], options)}; },
                      {x, depthwise_kernel, pointwise_kernel},
                      detail::reach_of(depthwise_kernel.shape(), options.dilation_rate))
        .front();
  }
  const std::string where = detail::current_label("separable_conv");
  const std::size_t axes = detail::spatial_axes(where, x);
  require_kernel(where, "depthwise_kernel", depthwise_kernel, axes);
  require_kernel(where, "pointwise_kernel", pointwise_kernel, axes);
  const Shape &depthwise = depthwise_kernel.shape(), &pointwise = pointwise_kernel.shape();
  Shape expected(axes, 1);
  expected.push_back(depthwise[axes] * depthwise[axes + 1]);
  expected.push_back(pointwise.back());
  if (pointwise != expected) {
    fail<ShapeError>(where, "pointwise_kernel must have shape {}; got {}", expected, pointwise);
  }
  const Value y = convolve_channels(where, "depthwise_kernel", x, depthwise_kernel, options);
  return convolve(where, y, pointwise_kernel, {});
}

Value conv_transpose(const Value& x, const Value& kernel, const ConvTransposeOpOptions& options) {
  if (detail::has_open_size(x)) return in_sizes(conv_transpose, options, {x, kernel});
  const std::string where = detail::current_label("conv_transpose");
  const std::size_t axes = detail::spatial_axes(where, x);
  require_kernel(where, "kernel", kernel, axes);
  require_channels(where, x, kernel.shape().back(), "kernel");
  const Shape strides = detail::one_for_each(where, "strides", options.strides, axes);
  const Shape dilation = detail::one_for_each(where, "dilation_rate", options.dilation_rate, axes);
  const bool same = detail::is_same(where, options.padding);
  Shape added(axes, -1);
  if (!options.output_padding.empty()) {
    added = detail::one_for_each(where, "output_padding", options.output_padding, axes, 0);
    detail::require_output_padding(where, added, strides);
  }
  const Shape &shape = x.shape(), &weights = kernel.shape();
  const std::int64_t channels = shape.back(), filters = weights[axes];
  std::vector<Extent> extents;
  Shape out{shape[0]}, padding;  // padding of the convolution whose gradient this is
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t reach = dilation[i] * (weights[i] - 1) + 1;
    const Extent extent = extent_of(shape[i + 1], reach, strides[i], added[i], same);
    if (extent.size < 1) {
      fail<ShapeError>(where, "input axis {} gives an output without elements; got shape {}", i + 1, shape);
    }
    extents.push_back(extent);
    out.push_back(extent.size);
    padding.push_back(reach - 1 - extent.front);
    padding.push_back(std::max<std::int64_t>(reach - 1 - extent.back, 0));
  }
  out.push_back(filters);
  Plane plane{of_plane(strides), padding, of_plane(dilation)};
  Value images = x, weight = kernel;
  Shape pictures = out;
  if (axes == 1) {
    images = reshape(x, {shape[0], 1, shape[1], channels});
    weight = reshape(kernel, {1, weights[0], filters, channels});
    plane.padding.insert(plane.padding.begin(), 2, 0);
    pictures.insert(pictures.begin() + 1, 1);
  } else if (axes == 3) {
    images = transposed_depth(x, weights[0], strides[0], dilation[0], extents[0]);
    weight =
        reshape(transpose(flip(kernel, 0), {1, 2, 3, 0, 4}), {weights[1], weights[2], filters, weights[0] * channels});
    plane.padding.erase(plane.padding.begin(), plane.padding.begin() + 2);
    pictures = {detail::times(shape[0], out[1]), out[2], out[3], filters};
  }
  Attributes attributes = plane.attributes();
  attributes.set("shape", pictures);
  const Op& op = axes == 1 ? ops::conv_transpose1d : axes == 2 ? ops::conv_transpose2d : ops::conv_transpose3d;
  const Value y = insert_one(op, {images, weight}, attributes);
  return axes == 2 ? y : detail::reshape_result(y, out);
}

}  // namespace mezzo
