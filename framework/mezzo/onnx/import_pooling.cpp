#include <algorithm>
#include <cmath>
#include <limits>

#include <mezzo/onnx/import_operators.hpp>
#include <mezzo/onnx/import_windows.hpp>
#include <mezzo/ops/index.hpp>
#include <mezzo/ops/ops.hpp>

// Pooling, computed with the channels last.
namespace mezzo::detail {
namespace {

constexpr std::int64_t most_taps = 1024;  // elements of a window along an axis that are combined one by one

/// Padding up to the end of the last window.
Shape whole_after(const OnnxWindows& windows, const Shape& sizes) {
  Shape out = windows.after;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t end = (windows.count(i, sizes[i]) - 1) * windows.strides[i] + windows.reach(i);
    out[i] = std::max(out[i], end - sizes[i] - windows.before[i]);
  }
  return out;
}

void check_counts(const OnnxCall& call, const OnnxWindows& windows, const Shape& sizes) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (windows.count(i, sizes[i]) < 1)
      call.refuse("windows {} must fit the input; got shape {}", windows.kernel, call.shape(0));
  }
}

/// Combines the elements of each window of x, which has its padding, along one axis after the other.
Value combine_taps(const OnnxCall& call, Value x, const OnnxWindows& windows, const Shape& counts,
                   Value (*combine)(const Value&, const Value&)) {
  for (std::size_t i = 0; i < windows.axes(); ++i) {
    if (windows.kernel[i] > most_taps) {
      call.refuse("a window must have at most {} elements along an axis; got {}", most_taps, windows.kernel[i]);
    }
    Value out;
    for (std::int64_t tap = 0; tap < windows.kernel[i]; ++tap) {
      std::vector<Index> indices(i + 2, Index(mezzo::all));
      const std::int64_t start = tap * windows.dilations[i];
      indices.back() = Index(mezzo::slice(start, start + (counts[i] - 1) * windows.strides[i] + 1, windows.strides[i]));
      const Value part = item_of(x, indices);
      out = out.defined() ? combine(out, part) : part;
    }
    x = out;
  }
  return x;
}

Shape window_counts(const OnnxWindows& windows, const Shape& sizes) {
  Shape out;
  for (std::size_t i = 0; i < sizes.size(); ++i) out.push_back(windows.count(i, sizes[i]));
  return out;
}

/// True if one op for images computes these windows.
bool one_op(const OnnxWindows& windows) {
  return windows.axes() < 3 &&
         std::all_of(windows.dilations.begin(), windows.dilations.end(), [](auto n) { return n == 1; });
}

/// pool(x, window, strides, padding) for images; lines are images of height 1.
template <class Options, class F>
Value pool_plane(const Value& x, const OnnxWindows& windows, const Shape& pads, const F& pool, Options options) {
  const bool line = windows.axes() == 1;
  const auto pair = [&](const Shape& numbers, std::int64_t other) {
    return line ? Ints({other, numbers[0]}) : Ints({numbers[0], numbers[1]});
  };
  options.pool_size = pair(windows.kernel, 1);
  options.strides = pair(windows.strides, 1);
  options.padding = Padding(pair(pads, 0));
  return line ? squeeze(pool(expand_dims(x, 1), options), 1) : pool(x, options);
}

void run_max_pool(OnnxCall& call) {
  const bool columns_first = call.integer("storage_order", 0) != 0;
  const Shape sizes = spatial_sizes(call);
  const OnnxWindows windows = onnx_windows(call, sizes, {});
  check_counts(call, windows, sizes);
  if (call.wants(1)) return run_max_pool_with_indices(call, windows, whole_after(windows, sizes), columns_first);
  const DType dtype = call.dtype(0);
  const Value x = is_floating(dtype) ? call.in_last(0) : cast(call.in_last(0), DType::float32);
  const Shape after = whole_after(windows, sizes);
  const double least = -std::numeric_limits<double>::infinity();
  Value y;
  // The op itself pads by at most half of the window.
  bool inside = windows.before == after;
  for (std::size_t i = 0; i < sizes.size(); ++i) inside = inside && 2 * after[i] <= windows.kernel[i];
  if (one_op(windows)) {
    const Value padded = inside ? x : padded_last(x, windows.before, after, least);
    const Shape pads = inside ? windows.before : Shape(windows.axes(), 0);
    y = pool_plane(
        padded, windows, pads, [](const Value& v, const auto& options) { return max_pool2d(v, options); },
        MaxPool2DOpOptions{});
  } else {
    y = combine_taps(call, padded_last(x, windows.before, after, least), windows, window_counts(windows, sizes),
                     [](const Value& a, const Value& b) { return maximum(a, b); });
  }
  call.put_last(is_floating(dtype) ? y : cast(y, dtype));
}

/// Sums of windows.
Value window_sums(const OnnxCall& call, const Value& x, const OnnxWindows& windows, const Shape& sizes) {
  const Value padded = padded_last(x, windows.before, whole_after(windows, sizes));
  if (!one_op(windows)) {
    return combine_taps(call, padded, windows, window_counts(windows, sizes),
                        [](const Value& a, const Value& b) { return a + b; });
  }
  const Value mean = pool_plane(
      padded, windows, Shape(windows.axes(), 0),
      [](const Value& v, const auto& options) { return avg_pool2d(v, options); }, AvgPool2DOpOptions{});
  return mean * static_cast<double>(product_of(windows.kernel, 0, windows.axes()));
}

/// 1 / number of elements of each window, (1, spatial axes..., 1).
Tensor window_shares(const OnnxWindows& windows, const Shape& sizes, bool with_padding) {
  Shape shape{1};
  std::vector<double> shares{1};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t count = windows.count(i, sizes[i]);
    std::vector<double> next;
    for (const double share : shares) {
      for (std::int64_t j = 0; j < count; ++j) {
        std::int64_t inside = 0;
        for (std::int64_t tap = 0; tap < windows.kernel[i]; ++tap) {
          const std::int64_t at = j * windows.strides[i] - windows.before[i] + tap * windows.dilations[i];
          inside += with_padding || (at >= 0 && at < sizes[i]) ? 1 : 0;
        }
        next.push_back(share / static_cast<double>(std::max<std::int64_t>(inside, 1)));
      }
    }
    shares = std::move(next);
    shape.push_back(count);
  }
  shape.push_back(1);
  return Tensor(shape, shares).cast(DType::float32);
}

void run_average_pool(OnnxCall& call) {
  const Shape sizes = spatial_sizes(call);
  const OnnxWindows windows = onnx_windows(call, sizes, {});
  const bool with_padding = call.integer("count_include_pad", 0) != 0;
  check_counts(call, windows, sizes);
  bool simple = one_op(windows) && windows.before == windows.after && whole_after(windows, sizes) == windows.after;
  for (std::size_t i = 0; i < sizes.size(); ++i) simple = simple && 2 * windows.after[i] <= windows.kernel[i];
  if (simple) {
    AvgPool2DOpOptions options;
    options.count_padding = with_padding;
    return call.put_last(pool_plane(
        call.in_last(0), windows, windows.before, [](const Value& v, const auto& all) { return avg_pool2d(v, all); },
        options));
  }
  const Value shares = Value(window_shares(windows, sizes, with_padding)).across_border();
  call.put_last(window_sums(call, call.in_last(0), windows, sizes) * shares);
}

void run_lp_pool(OnnxCall& call) {
  const Shape sizes = spatial_sizes(call);
  const OnnxWindows windows = onnx_windows(call, sizes, {});
  const auto p = static_cast<double>(call.integer("p", 2));
  check_counts(call, windows, sizes);
  const Value powers = power(mezzo::abs(call.in_last(0)), p);
  call.put_last(power(window_sums(call, powers, windows, sizes), 1 / p));
}

/// Axes 1 to rank - 2 of images with the channels last.
ReduceOptions spatial_reduction(const OnnxCall& call) {
  const std::size_t axes = call.rank(0);
  if (axes < 2) call.refuse("input 0 must have batch and channels; got shape {}", call.shape(0));
  ReduceOptions options{.axes = {}, .keepdims = true};
  for (std::size_t i = 1; i + 1 < axes; ++i) options.axes.push_back(static_cast<std::int64_t>(i));
  return options;
}

void run_global(OnnxCall& call, Value (*reduce)(const Value&, const ReduceOptions&)) {
  const ReduceOptions options = spatial_reduction(call);
  const Value x = call.in_last(0);
  call.put_last(options.axes.empty() ? x : reduce(x, options));
}

void run_global_lp(OnnxCall& call) {
  const auto p = static_cast<double>(call.integer("p", 2));
  const ReduceOptions options = spatial_reduction(call);
  const Value powers = power(mezzo::abs(call.in_last(0)), p);
  call.put_last(power(options.axes.empty() ? powers : sum(powers, options), 1 / p));
}

}  // namespace

void add_onnx_pooling(OnnxOperators& table) {
  table["MaxPool"] = {.run = run_max_pool, .outputs = 2};
  table["AveragePool"] = {.run = run_average_pool};
  table["LpPool"] = {.run = run_lp_pool};
  table["GlobalAveragePool"] = {.run = [](OnnxCall& call) { run_global(call, mezzo::mean); }};
  table["GlobalMaxPool"] = {.run = [](OnnxCall& call) { run_global(call, mezzo::max); }};
  table["GlobalLpPool"] = {.run = run_global_lp};
}

}  // namespace mezzo::detail
