#include <algorithm>
#include <numeric>

#include <mezzo/onnx/import_call.hpp>
#include <mezzo/onnx/import_operators.hpp>
#include <mezzo/ops/ops.hpp>

// Operators that arrange elements in other shapes.
namespace mezzo::detail {
namespace {

void run_reshape(OnnxCall& call) {
  Shape shape = call.opset() < 5 ? Shape(call.integers("shape")) : Shape(call.ints(1, "shape"));
  const bool zero_stays = call.integer("allowzero", 0) != 0;
  const Shape from = call.shape(0);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !zero_stays) {
      if (i >= from.size()) call.refuse("size {} of the shape copies axis {} of the input; got shape {}", i, i, from);
      shape[i] = from[i];
    }
    if (shape[i] < -1) call.refuse("sizes must be -1 or more; got {}", shape[i]);
  }
  call.put(reshape(call.in(0), shape));
}

void run_flatten(OnnxCall& call) {
  const Shape shape = call.shape(0);
  const std::int64_t rank = static_cast<std::int64_t>(shape.size());
  std::int64_t axis = call.integer("axis", 1);
  if (axis < -rank || axis > rank) call.refuse("axis must be from {} to {}; got {}", -rank, rank, axis);
  if (axis < 0) axis += rank;
  const auto at = static_cast<std::size_t>(axis);
  call.put(reshape(call.in(0), {product_of(shape, 0, at), product_of(shape, at, shape.size())}));
}

void run_squeeze(OnnxCall& call) {
  const auto axes = call.ints_of("axes", 1, 13);
  const Shape shape = call.shape(0);
  Shape out;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    bool removed = !axes && shape[i] == 1;
    for (const auto axis : axes.value_or(std::vector<std::int64_t>{})) {
      removed = removed || normalize_axis(axis, shape.size(), call.where() + " axes") == static_cast<std::int64_t>(i);
    }
    if (removed && shape[i] != 1) call.refuse("axis {} must have size 1; got shape {}", i, shape);
    if (!removed) out.push_back(shape[i]);
  }
  call.put(out.size() == shape.size() ? call.in(0) : reshape(call.in(0), out));
}

void run_unsqueeze(OnnxCall& call) {
  const auto axes = call.ints_of("axes", 1, 13);
  if (!axes) call.refuse("axes must be given; they are absent");
  Shape out = call.shape(0);
  const std::size_t rank = out.size() + axes->size();
  Shape places;
  for (const auto axis : *axes) places.push_back(normalize_axis(axis, rank, call.where() + " axes"));
  std::sort(places.begin(), places.end());
  if (std::adjacent_find(places.begin(), places.end()) != places.end()) call.refuse("axes must differ");
  for (const auto place : places) out.insert(out.begin() + place, 1);
  call.put(reshape(call.in(0), out));
}

/// Transposes between the file's order of axes and the channels last cost nothing.
void run_transpose(OnnxCall& call) {
  const std::size_t rank = call.rank(0);
  Shape order = call.integers("perm");
  if (order.empty()) {
    order.resize(rank);
    std::iota(order.rbegin(), order.rend(), 0);
  }
  Shape sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted.size() != rank || sorted[i] != static_cast<std::int64_t>(i)) {
      call.refuse("perm must name each of the {} axes once; got {}", rank, order);
    }
  }
  if (rank > 2 && order == channels_to_first(rank) && !call.has_last(0) && !call.constant(0) &&
      call.variable(0) == nullptr) {
    OnnxValue out;
    out.last = call.in(0);
    return call.put(out);
  }
  if (rank > 2 && order == channels_to_last(rank) && call.has_last(0)) return call.put(call.in_last(0));
  call.put(permuted_axes(call.in(0), order));
}

void run_concat(OnnxCall& call) {
  const std::int64_t axis = call.axis("axis", 0, call.rank(0));
  const std::size_t rank = call.rank(0);
  bool last = rank > 2;
  for (std::size_t i = 0; i < call.input_count(); ++i) last = last && call.has_last(i);
  Values xs;
  Shape whole = call.shape(0);
  for (std::size_t i = 0; i < call.input_count(); ++i) {
    xs.push_back(last ? call.in_last(i) : call.in(i));
    const Shape shape = call.shape(i);
    if (i > 0 && shape.size() == rank) whole[static_cast<std::size_t>(axis)] += shape[static_cast<std::size_t>(axis)];
  }
  const bool known = std::all_of(whole.begin(), whole.end(), [](std::int64_t size) { return size >= 0; });
  if (known) check_onnx_size(call, whole);
  if (last) return call.put_last(concat(xs, axis_with_channels_last(axis, rank)));
  call.put(concat(xs, axis));
}

void run_expand(OnnxCall& call) {
  const Shape wanted = call.ints(1, "shape"), from = call.shape(0);
  const Shape shape = broadcast(from, wanted, call.where());
  check_onnx_size(call, shape);
  call.put(broadcast_to(call.in(0), shape));
}

void run_tile(OnnxCall& call) {
  const std::vector<std::int64_t> repeats = call.ints(1, "repeats");
  Shape shape = call.shape(0);
  if (repeats.size() != shape.size()) call.refuse("repeats must have {} numbers; got {}", shape.size(), repeats.size());
  Value x = call.in(0);
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i] < 0) call.refuse("repeats must not be negative; got {}", repeats[i]);
    if (__builtin_mul_overflow(shape[i], repeats[i], &shape[i])) call.refuse("repeats are too large");
  }
  check_onnx_size(call, shape);
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i] == 1) continue;
    Shape whole = x.shape(), wide = whole;
    whole.insert(whole.begin() + static_cast<std::ptrdiff_t>(i), 1);
    wide.insert(wide.begin() + static_cast<std::ptrdiff_t>(i), repeats[i]);
    Shape joined = x.shape();
    joined[i] *= repeats[i];
    x = reshape(broadcast_to(reshape(x, whole), wide), joined);
  }
  call.put(x);
}

/// Blocks of channels as pixels, or pixels as blocks of channels.
void run_depth_to_space(OnnxCall& call) {
  const std::int64_t block = call.integer("blocksize", 0);
  const std::string mode = call.text("mode", "DCR");
  const Shape s = call.shape(0);
  if (s.size() != 4 || block < 1 || block > 65536 || s[1] % (block * block) != 0) {
    call.refuse("input 0 must be images whose channels are a multiple of blocksize^2 ({}); got shape {}", block, s);
  }
  if (mode != "DCR" && mode != "CRD") call.refuse("mode must be \"DCR\" or \"CRD\"; got \"{}\"", mode);
  const std::int64_t channels = s[1] / (block * block);
  const Value x = call.in(0);
  const Value y = mode == "DCR" ? transpose(reshape(x, {s[0], block, block, channels, s[2], s[3]}), {0, 3, 4, 1, 5, 2})
                                : transpose(reshape(x, {s[0], channels, block, block, s[2], s[3]}), {0, 1, 4, 2, 5, 3});
  call.put(reshape(y, {s[0], channels, s[2] * block, s[3] * block}));
}

void run_space_to_depth(OnnxCall& call) {
  const std::int64_t block = call.integer("blocksize", 0);
  const Shape s = call.shape(0);
  if (s.size() != 4 || block < 1 || s[2] % block != 0 || s[3] % block != 0) {
    call.refuse("height and width must be multiples of blocksize ({}); got shape {}", block, s);
  }
  const Value parts = reshape(call.in(0), {s[0], s[1], s[2] / block, block, s[3] / block, block});
  call.put(reshape(transpose(parts, {0, 3, 5, 1, 2, 4}), {s[0], s[1] * block * block, s[2] / block, s[3] / block}));
}

void run_trilu(OnnxCall& call) {
  const bool upper = call.integer("upper", 1) != 0;
  const std::int64_t k = call.has(1) ? call.one_int(1, "k") : 0;
  const Value x = call.in(0);
  if (call.rank(0) < 2) call.refuse("input 0 must have 2 axes or more; got shape {}", call.shape(0));
  call.put(upper ? triu(x, k) : tril(x, k));
}

}  // namespace

void add_onnx_shapes(OnnxOperators& table) {
  table["Reshape"] = {.run = run_reshape, .least = 1, .most = 2};
  table["Flatten"] = {.run = run_flatten};
  table["Squeeze"] = {.run = run_squeeze, .least = 1, .most = 2};
  table["Unsqueeze"] = {.run = run_unsqueeze, .least = 1, .most = 2};
  table["Transpose"] = {.run = run_transpose};
  table["Concat"] = {.run = run_concat, .least = 1, .most = OnnxOperator::any};
  table["Expand"] = {.run = run_expand, .least = 2, .most = 2};
  table["Tile"] = {.run = run_tile, .least = 2, .most = 2};
  table["DepthToSpace"] = {.run = run_depth_to_space};
  table["SpaceToDepth"] = {.run = run_space_to_depth};
  table["Trilu"] = {.run = run_trilu, .least = 1, .most = 2};
}

}  // namespace mezzo::detail
