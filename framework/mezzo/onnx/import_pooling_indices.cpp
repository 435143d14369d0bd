#include <algorithm>
#include <limits>

#include <mezzo/onnx/import_operators.hpp>
#include <mezzo/onnx/import_windows.hpp>
#include <mezzo/ops/index.hpp>
#include <mezzo/ops/ops.hpp>

// Pooling that returns the places of the largest elements, and its inverse.
namespace mezzo::detail {
namespace {

constexpr std::int64_t most_elements = 1024;                  // of a window
constexpr std::int64_t most_places = std::int64_t{1} << 24U;  // of elements of windows in an image

/// Steps between elements along the spatial axes in the order of indices; 1 for the fastest axis.
Shape index_steps(const Shape& sizes, bool columns_first) {
  Shape steps(sizes.size(), 1);
  if (columns_first) {
    for (std::size_t i = 1; i < sizes.size(); ++i) steps[i] = steps[i - 1] * sizes[i - 1];
  } else {
    for (std::size_t i = sizes.size() - 1; i-- > 0;) steps[i] = steps[i + 1] * sizes[i + 1];
  }
  return steps;
}

/// Offsets in a window of its element `number`, the last axis fastest.
Shape window_offsets(const OnnxWindows& windows, std::int64_t number) {
  Shape out(windows.axes());
  for (std::size_t i = windows.axes(); i-- > 0;) {
    out[i] = number % windows.kernel[i] * windows.dilations[i];
    number /= windows.kernel[i];
  }
  return out;
}

/// Element of each window at these offsets. `x` has the channels last and its padding.
Value window_elements(const Value& x, const OnnxWindows& windows, const Shape& counts, const Shape& offsets) {
  std::vector<Index> indices{Index(mezzo::all)};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::int64_t end = offsets[i] + (counts[i] - 1) * windows.strides[i] + 1;
    indices.emplace_back(mezzo::slice(offsets[i], end, windows.strides[i]));
  }
  indices.emplace_back(mezzo::all);
  return item_of(x, indices);
}

/// Numbers of the elements of windows in an image: (elements, counts...), flat.
Tensor window_places(const OnnxWindows& windows, const Shape& counts, const Shape& steps, std::int64_t elements) {
  std::vector<std::int64_t> out;
  for (std::int64_t element = 0; element < elements; ++element) {
    const Shape offsets = window_offsets(windows, element);
    Shape at(counts.size(), 0);
    for (std::int64_t left = product_of(counts, 0, counts.size()); left > 0; --left) {
      std::int64_t place = 0;
      for (std::size_t i = 0; i < at.size(); ++i) {
        place += (at[i] * windows.strides[i] + offsets[i] - windows.before[i]) * steps[i];
      }
      out.push_back(place);
      for (std::size_t i = at.size(); i-- > 0;) {
        if (++at[i] < counts[i]) break;
        at[i] = 0;
      }
    }
  }
  return int64_vector(out);
}

/// Values along an axis of `rank` axes.
Value counted_along(std::int64_t count, std::int64_t step, std::size_t axis, std::size_t rank) {
  Shape along(rank, 1);
  along[axis] = count;
  return reshape(Value(arange(std::int64_t{0}, count, std::int64_t{1}, DType::int64)) * step, along);
}

void run_max_unpool(OnnxCall& call) {
  const Shape sizes = spatial_sizes(call);
  const OnnxWindows windows = onnx_windows(call, sizes, {});
  const Shape shape = call.shape(0);
  if (call.shape(1) != shape) call.refuse("indices must have shape {}; got shape {}", shape, call.shape(1));
  Shape inferred{shape[0], shape[1]};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    inferred.push_back((sizes[i] - 1) * windows.strides[i] + windows.kernel[i] - windows.before[i] - windows.after[i]);
  }
  check_onnx_size(call, inferred);
  const std::int64_t total = product_of(inferred, 0, inferred.size());
  const Value places = reshape(cast(call.in(1), DType::int64), {-1, 1});
  Value y = reshape(scatter(places, reshape(call.in(0), {-1}), {total}), inferred);
  if (call.has(2)) {
    const Shape wanted = call.ints(2, "output_shape");
    check_onnx_size(call, wanted);
    PadOptions more{.before = Shape(wanted.size(), 0), .after = {}};
    for (std::size_t i = 0; i < wanted.size(); ++i)
      more.after.push_back(wanted[i] - (i < inferred.size() ? inferred[i] : 0));
    const bool fits = wanted.size() == inferred.size() &&
                      std::all_of(more.after.begin(), more.after.end(), [](std::int64_t n) { return n >= 0; });
    if (!fits) call.refuse("output_shape must be at least {}; got {}", inferred, wanted);
    y = pad(y, more);
  }
  call.put(y);
}

}  // namespace

void run_max_pool_with_indices(OnnxCall& call, const OnnxWindows& windows, const Shape& after, bool columns_first) {
  const Shape sizes = spatial_sizes(call), shape = call.shape(0);
  const std::int64_t elements = product_of(windows.kernel, 0, windows.axes());
  if (elements < 1 || elements > most_elements) {
    call.refuse("a window with indices must have at most {} elements; got {}", most_elements, windows.kernel);
  }
  Shape counts;
  for (std::size_t i = 0; i < sizes.size(); ++i) counts.push_back(windows.count(i, sizes[i]));
  const DType dtype = call.dtype(0);
  const Value given = is_floating(dtype) ? call.in_last(0) : cast(call.in_last(0), DType::float32);
  const Value x = padded_last(given, windows.before, after, -std::numeric_limits<double>::infinity());
  Values parts;
  for (std::int64_t i = 0; i < elements; ++i) {
    parts.push_back(window_elements(x, windows, counts, window_offsets(windows, i)));
  }
  const Value all = stack(parts, 0);
  const Value y = mezzo::max(all, {.axes = {0}}), best = cast(argmax(all, 0), DType::int64);
  const std::int64_t windows_of_image = product_of(counts, 0, counts.size());
  if (windows_of_image < 0 || windows_of_image > most_places / elements) {
    call.refuse("windows with indices must have at most {} elements in all; got {} windows of {}", most_places,
                windows_of_image, elements);
  }
  const Tensor places = window_places(windows, counts, index_steps(sizes, columns_first), elements);
  Shape whole{1};
  whole.insert(whole.end(), counts.begin(), counts.end());
  whole.push_back(1);
  const Value number = reshape(Value(arange(std::int64_t{0}, windows_of_image, std::int64_t{1}, DType::int64)), whole);
  const std::int64_t pixels = product_of(sizes, 0, sizes.size());
  const std::size_t rank = shape.size();
  const Value offsets =
      counted_along(shape[0], shape[1] * pixels, 0, rank) + counted_along(shape[1], pixels, rank - 1, rank);
  OnnxValue indices;
  indices.last = take(Value(places), best * windows_of_image + number, 0) + offsets;
  call.put_last(is_floating(dtype) ? y : cast(y, dtype));
  call.put(indices, 1);
}

void add_onnx_pooling_indices(OnnxOperators& table) {
  table["MaxUnpool"] = {.run = run_max_unpool, .least = 2, .most = 3};
}

}  // namespace mezzo::detail
