#include <mezzo/onnx/import_windows.hpp>

#include <algorithm>

#include <mezzo/ops/ops.hpp>

namespace mezzo::detail {
namespace {

constexpr std::int64_t most_size = std::int64_t{1} << 31;

Shape numbers_for(OnnxCall& call, const char* name, const Shape& otherwise, std::int64_t least) {
  Shape out = call.integers(name);
  if (out.empty()) out = otherwise;
  if (out.size() != otherwise.size()) {
    call.refuse("{} must have {} numbers; got {}", name, otherwise.size(), out.size());
  }
  for (const auto number : out) {
    if (number < least || number > most_size) call.refuse("{} must be at least {}; got {}", name, least, number);
  }
  return out;
}

/// Padding for which the number of windows is the size divided by the stride, rounded up.
void pad_same(OnnxWindows& windows, const Shape& sizes) {
  for (std::size_t i = 0; i < windows.axes(); ++i) {
    const std::int64_t count = (sizes[i] + windows.strides[i] - 1) / windows.strides[i];
    const std::int64_t both = std::max<std::int64_t>((count - 1) * windows.strides[i] + windows.reach(i) - sizes[i], 0);
    const bool lower = windows.auto_pad == "SAME_LOWER";
    windows.before[i] = lower ? both - both / 2 : both / 2;
    windows.after[i] = both - windows.before[i];
  }
}

}  // namespace

std::int64_t OnnxWindows::count(std::size_t axis, std::int64_t size) const {
  const std::int64_t room = size + before[axis] + after[axis] - reach(axis);
  if (room < 0) return 0;
  std::int64_t out = room / strides[axis] + 1;
  if (!ceil || room % strides[axis] == 0) return out;
  if (out * strides[axis] < size + before[axis]) ++out;  // a window must begin inside
  return out;
}

Shape spatial_sizes(const OnnxCall& call) {
  const Shape shape = call.shape(0);
  if (shape.size() < 3 || shape.size() > 5) {
    call.refuse("input 0 must have 1 to 3 spatial axes behind batch and channels; got shape {}", shape);
  }
  return {shape.begin() + 2, shape.end()};
}

OnnxWindows onnx_windows(OnnxCall& call, const Shape& sizes, const Shape& kernel) {
  OnnxWindows out;
  const std::size_t axes = sizes.size();
  const Shape ones(axes, 1);
  out.kernel = numbers_for(call, "kernel_shape", kernel.empty() ? ones : kernel, 1);
  out.strides = numbers_for(call, "strides", ones, 1);
  out.dilations = numbers_for(call, "dilations", ones, 1);
  const Shape pads = numbers_for(call, "pads", Shape(2 * axes, 0), 0);
  out.before.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(axes));
  out.after.assign(pads.begin() + static_cast<std::ptrdiff_t>(axes), pads.end());
  out.ceil = call.integer("ceil_mode", 0) != 0;
  out.auto_pad = call.text("auto_pad", "NOTSET");
  if (out.auto_pad == "SAME_UPPER" || out.auto_pad == "SAME_LOWER") {
    pad_same(out, sizes);
  } else if (out.auto_pad == "VALID") {
    out.before = out.after = Shape(axes, 0);
  } else if (out.auto_pad != "NOTSET") {
    call.refuse("auto_pad must be NOTSET, SAME_UPPER, SAME_LOWER or VALID; got \"{}\"", out.auto_pad);
  }
  return out;
}

Value padded_last(const Value& x, const Shape& before, const Shape& after, double value) {
  const auto none = [](const Shape& pads) {
    return std::all_of(pads.begin(), pads.end(), [](auto n) { return n == 0; });
  };
  if (none(before) && none(after)) return x;
  PadOptions options{.before = {0}, .after = {0}, .mode = "constant", .constant_values = value};
  options.before.insert(options.before.end(), before.begin(), before.end());
  options.after.insert(options.after.end(), after.begin(), after.end());
  options.before.push_back(0);
  options.after.push_back(0);
  return pad(x, options);
}

}  // namespace mezzo::detail
