#include <mezzo/onnx/export_node.hpp>

// Functions of host nodes that describe themselves: categories of preprocessing layers.
namespace mezzo::detail {
namespace {

/// Number of boundaries that each number is not below.
std::string bins(const ExportedNode& x) {
  const DType operand = x.dtype();
  const bool narrow = is_floating(operand) && operand != DType::float64;  // boundaries are compared in float32
  const DType dtype = narrow ? DType::float32 : DType::float64;
  const std::string boundaries = x.graph.constant(x.get<Tensor>("boundaries").cast(dtype));
  const auto last = static_cast<std::int64_t>(x.rank());
  const std::string numbers = x.unsqueeze(x.graph.cast(x.in(), dtype), {last});
  const std::string reached = x.add("Not", {x.add_as(DType::boolean, "Less", {numbers, boundaries})});
  return x.reduce("ReduceSum", x.graph.cast(reached, DType::int64), {last}, false);
}

ExportNames host(const ExportedNode& x) {
  const Attributes& attributes = x.node().attributes;
  if (!attributes.has("encoding")) {
    fail<ValueError>(x.where(), "export_onnx: the op {} has no counterpart in ONNX", x.node().op->name);
  }
  const std::string mode = x.get<std::string>("encoding");
  std::string indices = attributes.has("boundaries") ? bins(x) : x.graph.cast(x.in(), DType::int64);
  const DType dtype = x.result_dtype();
  if (mode == "int") return {x.graph.cast(indices, dtype)};
  auto rank = static_cast<std::int64_t>(x.rank());
  if (mode == "one_hot" && rank > 1 && x.shapes[0].back() == TracedNumber(x.traced.size(), 1)) {
    indices = x.squeeze(indices, {--rank});
  }
  std::vector<double> places;
  for (std::int64_t i = 0; i < x.number("depth"); ++i) places.push_back(static_cast<double>(i));
  const std::string categories = x.graph.constant(Tensor({x.number("depth")}, places).cast(DType::int64));
  const std::string hit = x.add_as(DType::boolean, "Equal", {x.unsqueeze(indices, {rank}), categories});
  const bool summed = mode != "one_hot" && rank > 0;
  const Shape axes = summed ? Shape{rank > 1 ? 1 : 0} : Shape{};
  const DType wide = accumulation_dtype(dtype);
  std::string cells = x.graph.cast(hit, wide);
  if (x.inputs.size() > 1) cells = x.add("Mul", {cells, x.unsqueeze(x.graph.cast(x.in(1), wide), {rank})});
  if (summed) cells = x.reduce(mode == "count" ? "ReduceSum" : "ReduceMax", cells, axes, false);
  return {x.graph.cast(cells, dtype)};
}

}  // namespace

void add_encoding_rules(ExportRules& rules) { rules["host"] = host; }

}  // namespace mezzo::detail
