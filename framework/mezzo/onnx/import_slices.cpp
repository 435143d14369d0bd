#include <algorithm>
#include <set>

#include <mezzo/onnx/import_call.hpp>
#include <mezzo/onnx/import_operators.hpp>
#include <mezzo/ops/index.hpp>
#include <mezzo/ops/ops.hpp>

// Parts of arrays, and arrays with elements around them.
namespace mezzo::detail {
namespace {

/// Axes of an input, or 0, 1, ... for as many numbers.
std::vector<std::int64_t> axes_or_all(OnnxCall& call, const std::optional<std::vector<std::int64_t>>& axes,
                                      std::size_t count) {
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < count; ++i)
    out.push_back(axes && i < axes->size() ? (*axes)[i] : static_cast<std::int64_t>(i));
  if (axes && axes->size() != count) call.refuse("axes must have {} numbers; got {}", count, axes->size());
  std::set<std::int64_t> seen;
  for (auto& axis : out) {
    axis = normalize_axis(axis, call.rank(0), call.where() + " axes");
    if (!seen.insert(axis).second) call.refuse("axes must differ; got {} twice", axis);
  }
  return out;
}

/// Elements from `start` up to, but without, `end`, as ONNX limits them to an axis of `size` elements.
Index onnx_range(OnnxCall& call, std::int64_t size, std::int64_t start, std::int64_t end, std::int64_t step) {
  if (step == 0) call.refuse("steps must not be 0");
  if (size < 0) {
    if (start == 0 && step == 1 && end > (std::int64_t{1} << 31)) return {mezzo::all};
    call.refuse("sizes must be known; got shape {}", call.shape(0));
  }
  const auto inside = [&](std::int64_t at, std::int64_t low, std::int64_t high) {
    return std::clamp(at < 0 ? at + size : at, low, high);
  };
  if (step > 0) {
    const std::int64_t first = inside(start, 0, size), last = inside(end, 0, size);
    if (first == 0 && last == size && step == 1) return {mezzo::all};
    return {mezzo::slice(first, std::max(first, last), step)};
  }
  if (size == 0) return {mezzo::slice(0, 0)};
  const std::int64_t first = inside(start, 0, size - 1), last = inside(end, -1, size - 1);
  if (last >= first) return {mezzo::slice(0, 0)};
  return {last < 0 ? mezzo::slice(first, std::nullopt, step) : mezzo::slice(first, last, step)};
}

void run_slice(OnnxCall& call) {
  const auto starts = call.ints_of("starts", 1, 10), ends = call.ints_of("ends", 2, 10);
  const auto axes = call.ints_of("axes", 3, 10);
  std::vector<std::int64_t> steps;
  if (call.opset() >= 10 && call.has(4)) steps = call.ints(4, "steps");
  if (!starts || !ends || starts->size() != ends->size())
    call.refuse("starts and ends must have the same number of axes");
  if (steps.empty()) steps.assign(starts->size(), 1);
  if (steps.size() != starts->size()) call.refuse("steps must have {} numbers; got {}", starts->size(), steps.size());
  const Shape shape = call.shape(0);
  const std::vector<std::int64_t> along = axes_or_all(call, axes, starts->size());
  std::vector<Index> indices(shape.size(), Index(mezzo::all));
  const bool last = call.has_last(0);
  for (std::size_t i = 0; i < along.size(); ++i) {
    const std::int64_t size = shape[static_cast<std::size_t>(along[i])];
    const std::int64_t place = last ? axis_with_channels_last(along[i], shape.size()) : along[i];
    indices[static_cast<std::size_t>(place)] = onnx_range(call, size, (*starts)[i], (*ends)[i], steps[i]);
  }
  if (last) return call.put_last(item_of(call.in_last(0), indices));
  call.put(item_of(call.in(0), indices));
}

void run_split(OnnxCall& call) {
  const Shape shape = call.shape(0);
  const std::int64_t axis = call.axis("axis", 0, shape.size());
  const std::int64_t size = shape[static_cast<std::size_t>(axis)];
  const auto count = static_cast<std::int64_t>(call.outputs().size());
  auto sizes = call.ints_of("split", 1, 13).value_or(std::vector<std::int64_t>{});
  const std::int64_t parts = call.integer("num_outputs", count);
  if (parts != count) call.refuse("num_outputs must be {}; got {}", count, parts);
  if (sizes.empty()) {
    const std::int64_t part = (size + count - 1) / count;
    if (size % count != 0 && call.opset() < 18)
      call.refuse("axis {} must divide into {} parts; got shape {}", axis, count, shape);
    for (std::int64_t i = 0; i < count; ++i) sizes.push_back(std::clamp<std::int64_t>(size - i * part, 0, part));
  }
  std::int64_t total = 0;
  for (const auto part : sizes) {
    if (part < 0 || part > size) call.refuse("sizes of parts must be from 0 to {}; got {}", size, part);
    total += part;
  }
  if (sizes.size() != call.outputs().size() || total != size) {
    call.refuse("{} parts must have {} elements; got {} parts with {}", count, size, sizes.size(), total);
  }
  const Value x = call.in(0);
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Shape starts(shape.size(), 0), box(shape.size(), -1);
    starts[static_cast<std::size_t>(axis)] = begin;
    box[static_cast<std::size_t>(axis)] = sizes[i];
    call.put(slice(x, {starts, box}), i);
    begin += sizes[i];
  }
}

/// Padding of each axis in the order in which x is read; negative numbers cut off elements.
struct Sides {
  Shape before, after;
};

Sides sides_of(OnnxCall& call, bool last) {
  const auto pads = call.ints_of("pads", 1, 11);
  if (!pads) call.refuse("pads must be given; they are absent");
  const std::size_t rank = call.rank(0), count = pads->size() / 2;
  std::optional<std::vector<std::int64_t>> axes;
  if (call.has(3)) axes = call.ints(3, "axes");
  if (pads->size() % 2 != 0 || (!axes && count != rank)) {
    call.refuse("pads must have 2 numbers for each axis; got {} numbers for shape {}", pads->size(), call.shape(0));
  }
  Sides out{Shape(rank, 0), Shape(rank, 0)};
  const std::vector<std::int64_t> along = axes_or_all(call, axes, count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto place = static_cast<std::size_t>(last ? axis_with_channels_last(along[i], rank) : along[i]);
    out.before[place] = (*pads)[i];
    out.after[place] = (*pads)[i + count];
  }
  return out;
}

/// x without the elements that negative padding cuts off, whose numbers become 0.
Value without_cut(const OnnxCall& call, const Value& x, Sides& sides) {
  const Shape shape = x.shape();
  Shape starts(shape.size(), 0), sizes(shape.size(), -1);
  bool cut = false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t before = std::max<std::int64_t>(-sides.before[i], 0),
                       after = std::max<std::int64_t>(-sides.after[i], 0);
    if (before + after == 0) continue;
    if (before > shape[i] || after > shape[i] - before)
      call.refuse("pads must not cut off more than there is; got shape {}", shape);
    cut = true;
    starts[i] = before;
    sizes[i] = shape[i] - before - after;
    sides.before[i] = std::max<std::int64_t>(sides.before[i], 0);
    sides.after[i] = std::max<std::int64_t>(sides.after[i], 0);
  }
  return cut ? slice(x, {starts, sizes}) : x;
}

void run_pad(OnnxCall& call) {
  const std::string mode = call.text("mode", "constant");
  double value = 0;
  if (call.opset() < 11) {
    value = call.number("value", 0);
  } else if (call.has(2)) {
    value = call.one_number(2, "constant_value");
  }
  const bool last = call.has_last(0);
  Sides sides = sides_of(call, last);
  const Value x = without_cut(call, last ? call.in_last(0) : call.in(0), sides);
  Shape whole = x.shape();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const bool large = sides.before[i] > (std::int64_t{1} << 31) || sides.after[i] > (std::int64_t{1} << 31);
    if (large) call.refuse("pads are too large");
    whole[i] = std::max<std::int64_t>(whole[i], 0) + sides.before[i] + sides.after[i];
  }
  check_onnx_size(call, whole);
  const Value y = pad(
      x,
      {.before = sides.before, .after = sides.after, .mode = mode, .constant_values = mode == "constant" ? value : 0});
  if (last) return call.put_last(y);
  call.put(y);
}

/// The middle part of an array, or the array in the middle of zeros, along axes.
void run_center_crop_pad(OnnxCall& call) {
  const std::vector<std::int64_t> wanted = call.ints(1, "shape");
  std::optional<std::vector<std::int64_t>> axes;
  if (call.has_attribute("axes")) axes = call.integers("axes");
  const std::vector<std::int64_t> along = axes_or_all(call, axes, wanted.size());
  const Shape shape = call.shape(0);
  Sides sides{Shape(shape.size(), 0), Shape(shape.size(), 0)};
  Shape whole = shape;
  for (std::size_t i = 0; i < along.size(); ++i) {
    const auto axis = static_cast<std::size_t>(along[i]);
    whole[axis] = wanted[i];
    const std::int64_t more = wanted[i] - shape[axis];
    sides.before[axis] = more >= 0 ? more / 2 : -(-more / 2);
    sides.after[axis] = more - sides.before[axis];
  }
  check_onnx_size(call, whole);
  const Value x = without_cut(call, call.in(0), sides);
  call.put(pad(x, {.before = sides.before, .after = sides.after}));
}

}  // namespace

void add_onnx_slices(OnnxOperators& table) {
  table["Slice"] = {.run = run_slice, .least = 1, .most = 5};
  table["Split"] = {.run = run_split, .least = 1, .most = 2, .outputs = 4096};
  table["Pad"] = {.run = run_pad, .least = 1, .most = 4};
  table["CenterCropPad"] = {.run = run_center_crop_pad, .least = 2, .most = 2};
}

}  // namespace mezzo::detail
