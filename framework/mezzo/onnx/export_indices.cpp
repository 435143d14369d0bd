#include <mezzo/core/finfo.hpp>
#include <mezzo/onnx/export_node.hpp>

// Ops that read or write elements by index.
namespace mezzo::detail {
namespace {

/// Indices as ONNX's operators take them.
std::string indices(const ExportedNode& x, std::size_t i) {
  const DType dtype = x.dtype(i);
  return dtype == DType::int32 || dtype == DType::int64 ? x.in(i) : x.graph.cast(x.in(i), DType::int64);
}

ExportNames gather(const ExportedNode& x) {
  const std::string table = x.graph.is_int4(x.in(0)) ? gathered_codes(x) : x.in(0);
  return {x.add("Gather", {table, indices(x, 1)}, {{"axis", 0}})};
}

ExportNames take(const ExportedNode& x) {
  return {x.add("Gather", {x.in(0), indices(x, 1)}, {{"axis", x.number("axis")}})};
}

ExportNames take_along_axis(const ExportedNode& x) {
  return {x.add("GatherElements", {x.in(0), indices(x, 1)}, {{"axis", x.number("axis")}})};
}

constexpr int scatter_max_opset = 18;

/// Indices (M,) as those of the first axis: int64 (M, 1).
std::string rows(const ExportedNode& x, std::size_t i) { return x.unsqueeze(x.graph.cast(x.in(i), DType::int64), {1}); }

ExportNames scatter_update(const ExportedNode& x) { return {x.add("ScatterND", {x.in(0), rows(x, 1), x.in(2)})}; }

/// An array of one number.
std::string filled(const ExportedNode& x, const TracedShape& shape, double number, DType dtype) {
  const std::string value = x.graph.scalar(number, dtype);
  return x.add("Expand", {value, x.sizes.list(shape, x.where())});
}

/// Sums by index along an axis, which is moved to the front.
ExportNames scatter_add(const ExportedNode& x) {
  const auto axis = static_cast<std::size_t>(x.number("axis"));
  const DType dtype = x.result_dtype();
  const DType wide = is_floating(dtype) ? accumulation_dtype(dtype) : dtype;
  Shape front{static_cast<std::int64_t>(axis)};
  for (std::size_t i = 0; i < x.rank(1); ++i) {
    if (i != axis) front.push_back(static_cast<std::int64_t>(i));
  }
  TracedShape shape;
  for (const std::int64_t from : front) shape.push_back(x.results[0][static_cast<std::size_t>(from)]);
  const std::string updates = x.transpose(x.graph.cast(x.in(1), wide), front);
  std::string places = rows(x, 0);
  if (x.get<bool>("negative")) {
    const std::string below = x.add_as(DType::boolean, "Less", {places, x.graph.ints({0})});
    const std::string moved = x.add("Add", {places, x.sizes.list({shape[0]}, x.where())});
    places = x.add_as(DType::int64, "Where", {below, moved, places});
  }
  const std::string sums = x.add("ScatterND", {filled(x, shape, 0, wide), places, updates}, {{"reduction", "add"}});
  return {x.graph.cast(x.transpose(sums, inverse_permutation(front)), dtype)};
}

ExportNames scatter_add_along_axis(const ExportedNode& x) {
  const DType dtype = x.result_dtype();
  const DType wide = is_floating(dtype) ? accumulation_dtype(dtype) : dtype;
  const std::string sums =
      x.add("ScatterElements",
            {filled(x, x.results[0], 0, wide), x.graph.cast(x.in(0), DType::int64), x.graph.cast(x.in(1), wide)},
            {{"axis", x.number("axis")}, {"reduction", "add"}});
  return {x.graph.cast(sums, dtype)};
}

ExportNames segment_max(const ExportedNode& x) {
  if (x.graph.opset() < scatter_max_opset) x.refuse(fmt::format("any rows (opset {} has it)", scatter_max_opset));
  if (!is_floating(x.dtype())) x.refuse("integers");
  const std::string lowest = filled(x, x.results[0], finfo(x.result_dtype()).min, x.dtype());
  return {x.add("ScatterND", {lowest, rows(x, 1), x.in(0)}, {{"reduction", "max"}})};
}

/// Number of elements of the sequence that are less than each value; if right, not greater than it.
ExportNames searchsorted(const ExportedNode& x) {
  const auto last = static_cast<std::int64_t>(x.rank(1));
  const std::string values = x.unsqueeze(x.in(1), {last});
  const std::string op = x.get<bool>("right") ? "LessOrEqual" : "Less";
  const std::string below = x.add_as(DType::boolean, op, {x.in(0), values});
  return {x.reduce("ReduceSum", x.graph.cast(below, DType::int64), {last}, false)};
}

}  // namespace

void add_index_rules(ExportRules& rules) {
  rules["gather"] = gather;
  rules["take"] = take;
  rules["take_along_axis"] = take_along_axis;
  rules["scatter_update"] = scatter_update;
  rules["scatter_add"] = scatter_add;
  rules["scatter_add_along_axis"] = scatter_add_along_axis;
  rules["segment_max"] = segment_max;
  rules["searchsorted"] = searchsorted;
}

}  // namespace mezzo::detail
