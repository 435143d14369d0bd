#include <string>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/indexing.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/open_sizes.hpp>
#include <mezzo/ops/spatial.hpp>
#include <mezzo/ops/spatial_axes.hpp>

// Pooling computed as pooling of images. Maxima and means of windows are computed along one axis after another: the
// number of elements of a window, also of its part inside x, is the product of its sizes.
namespace mezzo {
namespace {

/// Pools images; the numbers are pairs for height and width, `padding` four.
Value pool_images(const Op& op, const Value& x, const Shape& window, const Shape& strides, const Shape& padding) {
  Attributes attributes{{"window", window}, {"strides", strides}, {"padding", padding}};
  if (&op == &ops::avg_pool2d) attributes.set("count_padding", false);
  return insert(op, {x}, attributes).front();
}

/// Pools one axis.
Value pool_axis(const Op& op, const Value& x, std::size_t axis, std::int64_t window, std::int64_t stride,
                const Shape& padding) {
  Shape out = x.shape();
  std::int64_t before = out[0], after = 1;
  for (std::size_t i = 1; i < axis; ++i) before = detail::times(before, out[i]);
  for (std::size_t i = axis + 1; i + 1 < out.size(); ++i) after *= out[i];
  const Value images = reshape(x, {before, out[axis], after, out.back()});
  const Value y = pool_images(op, images, {window, 1}, {stride, 1}, {padding[0], padding[1], 0, 0});
  out[axis] = y.shape()[1].or_unknown();
  return reshape(y, out);
}

Value pool(const std::string& where, const Op& op, const Value& x, const detail::Ints& pool_size,
           const PoolOpOptions& options) {
  if (detail::has_open_size(x)) {
    return with_sizes([=, &op](const Value& y) { return pool(where, op, y, pool_size, options); }, x,
                      detail::reach_of(pool_size.numbers()));
  }
  const std::size_t axes = detail::spatial_axes(where, x);
  const Shape window = detail::one_for_each(where, "pool_size", pool_size, axes);
  const Shape strides =
      options.strides.empty() ? window : detail::one_for_each(where, "strides", options.strides, axes);
  const bool same = detail::is_same(where, options.padding);
  const detail::Windows windows = detail::windows_over(where, "pool_size", x, window, strides, Shape(axes, 1), same);
  const Shape &shape = x.shape(), &padding = windows.padding, &counts = windows.counts;
  if (axes == 1) return pool_axis(op, x, 1, window[0], strides[0], padding);
  if (axes == 2) return pool_images(op, x, window, strides, padding);
  const Value images = reshape(x, {detail::times(shape[0], shape[1]), shape[2], shape[3], shape[4]});
  const Value flat = pool_images(op, images, {window[1], window[2]}, {strides[1], strides[2]},
                                 {padding[2], padding[3], padding[4], padding[5]});
  const Value volumes = reshape(flat, {shape[0], shape[1], counts[1], counts[2], shape[4]});
  return window[0] == 1 && strides[0] == 1 ? volumes : pool_axis(op, volumes, 1, window[0], strides[0], padding);
}

/// Windows of one axis have at most two sizes, `small` and `small` + 1. Both are pooled at every position, and the
/// positions of the windows are selected.
Value adapt_axis(const Op& op, const Value& x, std::size_t axis, std::int64_t count) {
  const std::int64_t size = x.shape()[axis].or_unknown(), small = (size + count - 1) / count;
  if (size == count) return x;
  if (size % count == 0) return pool_axis(op, x, axis, small, small, {0, 0});
  Shape places;
  bool large = false;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t start = i * size / count, stop = ((i + 1) * size + count - 1) / count;
    large = large || stop - start > small;
    places.push_back(stop - start > small ? size - small + 1 + start : start);
  }
  const auto along = static_cast<std::int64_t>(axis);
  Value pooled = small == 1 ? x : pool_axis(op, x, axis, small, 1, {0, 0});
  if (large) pooled = concat({pooled, pool_axis(op, x, axis, small + 1, 1, {0, 0})}, along);
  return take(pooled, detail::int64s(places, {count}), along);
}

Value adapt(const std::string& where, const Op& op, const Value& x, const detail::Ints& output_size) {
  if (detail::has_open_size(x)) {
    return with_sizes([=, &op](const Value& y) { return adapt(where, op, y, output_size); }, x,
                      detail::reach_of(output_size.numbers()));
  }
  const std::size_t axes = detail::spatial_axes(where, x);
  const Shape counts = detail::one_for_each(where, "output_size", output_size, axes);
  Shape window;
  bool even = true;
  for (std::size_t i = 0; i < axes; ++i) {
    even = even && x.shape()[i + 1] % counts[i] == 0;
    window.push_back(x.shape()[i + 1] / counts[i]);
  }
  if (even && axes == 2) return pool_images(op, x, window, window, {0, 0, 0, 0});
  // Maxima from the last axis on, so that among equal elements the first one in row-major order of the window is taken.
  const bool from_last = &op == &ops::max_pool2d;
  Value y = x;
  for (std::size_t i = 0; i < axes; ++i) {
    const std::size_t axis = from_last ? axes - 1 - i : i;
    y = adapt_axis(op, y, axis + 1, counts[axis]);
  }
  return y;
}

}  // namespace

Value average_pool(const Value& x, const detail::Ints& pool_size, const PoolOpOptions& options) {
  return pool(detail::current_label("average_pool"), ops::avg_pool2d, x, pool_size, options);
}

Value max_pool(const Value& x, const detail::Ints& pool_size, const PoolOpOptions& options) {
  return pool(detail::current_label("max_pool"), ops::max_pool2d, x, pool_size, options);
}

Value adaptive_average_pool(const Value& x, const detail::Ints& output_size) {
  return adapt(detail::current_label("adaptive_average_pool"), ops::avg_pool2d, x, output_size);
}

Value adaptive_max_pool(const Value& x, const detail::Ints& output_size) {
  return adapt(detail::current_label("adaptive_max_pool"), ops::max_pool2d, x, output_size);
}

}  // namespace mezzo
