#include <algorithm>

#include <mezzo/onnx/import_convolutions.hpp>
#include <mezzo/onnx/import_operators.hpp>
#include <mezzo/onnx/import_windows.hpp>
#include <mezzo/ops/index.hpp>
#include <mezzo/ops/ops.hpp>
#include <mezzo/ops/spatial.hpp>

// Convolutions, computed with the channels last.
namespace mezzo::detail {
namespace {

/// Spatial sizes of a kernel of that shape, (F, C, spatial axes...).
Shape kernel_sizes(const OnnxCall& call, const Shape& shape, std::size_t axes) {
  if (shape.size() != axes + 2) call.refuse("kernel must have {} axes; got shape {}", axes + 2, shape);
  return {shape.begin() + 2, shape.end()};
}

/// Numbers for the spatial axes as an option of a convolution.
Ints as_ints(const Shape& numbers) {
  if (numbers.size() == 1) return Ints(numbers[0]);
  if (numbers.size() == 2) return Ints({numbers[0], numbers[1]});
  return Ints({numbers[0], numbers[1], numbers[2]});
}

/// A convolution of images; lines are images of height 1.
Value convolve_images(const Value& x, const Value& kernel, const OnnxWindows& windows, std::int64_t groups) {
  const bool symmetric = windows.before == windows.after;
  const Value padded = symmetric ? x : padded_last(x, windows.before, windows.after);
  const Shape pads = symmetric ? windows.before : Shape(windows.axes(), 0);
  Conv2DOpOptions options{.strides = as_ints(windows.strides),
                          .padding = Padding(as_ints(pads)),
                          .dilation_rate = as_ints(windows.dilations),
                          .groups = groups};
  if (windows.axes() == 2) return conv2d(padded, kernel, options);
  options.strides = Ints({1, windows.strides[0]});
  options.padding = Padding(Ints({0, pads[0]}));
  options.dilation_rate = Ints({1, windows.dilations[0]});
  const Shape of_kernel = kernel.shape();
  const Value y =
      conv2d(expand_dims(padded, 1), reshape(kernel, {1, of_kernel[0], of_kernel[1], of_kernel[2]}), options);
  return squeeze(y, 1);
}

/// The convolution of input 0 with a kernel of that shape; both have the channels last.
Value convolved(OnnxCall& call, const Value& x, const Value& weight, const Shape& kernel) {
  const Shape sizes = spatial_sizes(call), shape = call.shape(0);
  const std::int64_t groups = call.integer("group", 1);
  const OnnxWindows windows = onnx_windows(call, sizes, kernel_sizes(call, kernel, sizes.size()));
  if (groups < 1 || groups > shape[1] || kernel[1] * groups != shape[1] || kernel[0] % groups != 0) {
    call.refuse("kernel of shape {} in {} groups must fit the input; got shape {}", kernel, groups, shape);
  }
  if (sizes.size() < 3) return convolve_images(x, weight, windows, groups);
  return conv(padded_last(x, windows.before, windows.after), weight,
              {.strides = as_ints(windows.strides), .dilation_rate = as_ints(windows.dilations)});
}

void run_conv(OnnxCall& call) {
  const Value y = convolved(call, call.in_last(0), call.in_kernel(1), call.shape(1));
  call.put_last(call.has(2) ? bias_add(y, call.in(2)) : y);
}

/// Padding of a transposed convolution that follows from output_shape or auto_pad: what is cut off both ends.
void set_cuts(OnnxCall& call, OnnxWindows& windows, const Shape& sizes, const Shape& added) {
  Shape wanted = call.integers("output_shape");
  const bool same = windows.auto_pad == "SAME_UPPER" || windows.auto_pad == "SAME_LOWER";
  if (wanted.empty() && !same) return;
  if (wanted.size() == sizes.size() + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (!wanted.empty() && wanted.size() != sizes.size()) {
    call.refuse("output_shape must have {} numbers; got {}", sizes.size(), wanted.size());
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t size = wanted.empty() ? sizes[i] * windows.strides[i] : wanted[i];
    const std::int64_t both = windows.strides[i] * (sizes[i] - 1) + added[i] + windows.reach(i) - size;
    const std::int64_t half = (both - (both < 0 ? 1 : 0)) / 2;  // rounded down
    windows.before[i] = windows.auto_pad == "SAME_UPPER" ? half : both - half;
    windows.after[i] = both - windows.before[i];
  }
}

/// x without (or, for negative numbers, with more) elements at the ends of its spatial axes.
Value cut_last(const OnnxCall& call, const Value& x, const OnnxWindows& windows) {
  Shape more_before, more_after, starts{0}, cut{-1};
  for (std::size_t i = 0; i < windows.axes(); ++i) {
    more_before.push_back(std::max<std::int64_t>(-windows.before[i], 0));
    more_after.push_back(std::max<std::int64_t>(-windows.after[i], 0));
  }
  const Value whole = padded_last(x, more_before, more_after);
  const Shape shape = whole.shape();
  bool all = true;
  for (std::size_t i = 0; i < windows.axes(); ++i) {
    const std::int64_t before = std::max<std::int64_t>(windows.before[i], 0);
    const std::int64_t size = shape[i + 1] - before - std::max<std::int64_t>(windows.after[i], 0);
    if (size < 1) call.refuse("the output must have elements; got padding for shape {}", shape);
    all = all && size == shape[i + 1];
    starts.push_back(before);
    cut.push_back(size);
  }
  starts.push_back(0);
  cut.push_back(-1);
  return all ? whole : slice(whole, {starts, cut});
}

void run_conv_transpose(OnnxCall& call) {
  const Shape sizes = spatial_sizes(call);
  const std::size_t axes = sizes.size();
  const std::int64_t groups = call.integer("group", 1);
  OnnxWindows windows = onnx_windows(call, sizes, kernel_sizes(call, call.shape(1), axes));
  Shape added = call.integers("output_padding");
  if (added.empty()) added = Shape(axes, 0);
  if (added.size() != axes) call.refuse("output_padding must have {} numbers; got {}", axes, added.size());
  set_cuts(call, windows, sizes, added);
  const Shape shape = call.shape(0), kernel = call.shape(1);
  if (groups < 1 || shape[1] != kernel[0] || shape[1] % groups != 0) {
    call.refuse("kernel of shape {} in {} groups must fit the input; got shape {}", kernel, groups, shape);
  }
  for (std::size_t i = 0; i < axes; ++i) {  // beyond the step: zeros that are cut off less
    const std::int64_t fits = std::min(added[i], windows.strides[i] - 1);
    windows.after[i] -= added[i] - fits;
    added[i] = fits;
  }
  const ConvTransposeOpOptions options{.strides = as_ints(windows.strides),
                                       .output_padding = as_ints(added),
                                       .dilation_rate = as_ints(windows.dilations)};
  const Value x = call.in_last(0), weight = call.in_kernel(1);
  Values parts;
  if (groups == 1) {
    parts = {conv_transpose(x, weight, options)};
  } else {
    const Values xs = split(x, groups, -1), weights = split(weight, groups, -1);
    for (std::size_t i = 0; i < xs.size(); ++i) parts.push_back(conv_transpose(xs[i], weights[i], options));
  }
  const Value y = cut_last(call, groups == 1 ? parts[0] : concat(parts, -1), windows);
  call.put_last(call.has(2) ? bias_add(y, call.in(2)) : y);
}

}  // namespace

Value onnx_convolution(OnnxCall& call, const Value& x, const Value& kernel) {
  const Shape shape = kernel.shape();
  Shape order;
  for (std::size_t i = 2; i < shape.size(); ++i) order.push_back(static_cast<std::int64_t>(i));
  order.insert(order.end(), {1, 0});
  const std::size_t rank = call.rank(0);
  if (rank < 3 || shape.size() != rank) call.refuse("kernel must have {} axes; got shape {}", rank, shape);
  return convolved(call, permuted_axes(x, channels_to_last(rank)), permuted_axes(kernel, order), shape);
}

void add_onnx_convolutions(OnnxOperators& table) {
  table["Conv"] = {.run = run_conv, .least = 2, .most = 3};
  table["ConvTranspose"] = {.run = run_conv_transpose, .least = 2, .most = 3};
}

}  // namespace mezzo::detail
