#include <mezzo/onnx/export_node.hpp>

// Ops that reduce axes, and those along an axis.
namespace mezzo::detail {
namespace {

std::string reduced(const ExportedNode& x, const std::string& op, const std::string& value) {
  return x.reduce(op, value, x.get<Shape>("axes"), x.get<bool>("keepdims"));
}

/// Sums and means, accumulated in the wider of both dtypes.
ExportNames sum(const ExportedNode& x) {
  const bool mean = x.node().op->name == "mean";
  DType wide = is_floating(x.dtype()) ? accumulation_dtype(x.dtype()) : DType::int64;
  if (mean && !is_floating(x.dtype())) wide = accumulation_dtype(x.result_dtype());
  const std::string total = reduced(x, mean ? "ReduceMean" : "ReduceSum", x.graph.cast(x.in(), wide));
  return {x.graph.cast(total, x.result_dtype())};
}

ExportNames prod(const ExportedNode& x) { return {reduced(x, "ReduceProd", x.in())}; }

/// Largest and smallest elements; of bools as of integers.
ExportNames extreme(const ExportedNode& x) {
  const std::string& op = x.node().op->name;
  const bool most = op == "max" || op == "any";
  const bool logical = x.dtype() == DType::boolean;
  const std::string value = logical ? x.graph.cast(x.in(), DType::int32) : x.in();
  return {x.graph.cast(reduced(x, most ? "ReduceMax" : "ReduceMin", value), x.dtype())};
}

ExportNames arg(const ExportedNode& x) {
  const std::string op = x.node().op->name == "argmax" ? "ArgMax" : "ArgMin";
  return {x.add_as(DType::int64, op, {x.in()}, {{"axis", x.number("axis")}, {"keepdims", 0}})};
}

ExportNames argsort(const ExportedNode& x) {
  const std::int64_t axis = x.number("axis");
  const std::string count = x.sizes.list({x.shapes[0][static_cast<std::size_t>(axis)]}, x.where());
  const ExportNames sorted =
      x.graph.add_many("TopK", {x.in(), count}, {{"axis", axis}, {"largest", 0}}, {x.dtype(), DType::int64});
  return {sorted[1]};
}

ExportNames top_k(const ExportedNode& x) {
  const std::string count = x.graph.ints({x.number("k")});
  return x.graph.add_many("TopK", {x.in(), count}, {{"axis", -1}}, {x.dtype(), DType::int64});
}

ExportNames cumsum(const ExportedNode& x) {
  const DType wide = is_floating(x.dtype()) ? accumulation_dtype(x.dtype()) : x.dtype();
  const std::string axis = x.graph.constant(Tensor::scalar(static_cast<double>(x.number("axis")), DType::int64));
  const ExportAttributes attributes{{"exclusive", x.get<bool>("exclusive") ? 1 : 0},
                                    {"reverse", x.get<bool>("reverse") ? 1 : 0}};
  return {x.graph.cast(x.add("CumSum", {x.graph.cast(x.in(), wide), axis}, attributes), x.dtype())};
}

/// Fewer than k scores of the row are greater than the target's, which is finite.
ExportNames in_top_k(const ExportedNode& x) {
  const std::string targets = x.graph.cast(x.in(0), DType::int64), &scores = x.in(1);
  const std::string none = x.graph.ints({0}), classes = x.sizes.list({x.shapes[1][1]}, x.where());
  const std::string negative = x.add_as(DType::boolean, "Less", {targets, none});
  const std::string beyond = x.add_as(DType::boolean, "LessOrEqual", {classes, targets});
  const std::string outside = x.add("Or", {negative, beyond});
  const std::string inside = x.add_as(DType::int64, "Where", {outside, none, targets});
  const std::string own = x.add_as(x.dtype(1), "GatherElements", {scores, x.unsqueeze(inside, {1})}, {{"axis", 1}});
  const std::string above = x.graph.cast(x.add_as(DType::boolean, "Less", {own, scores}), DType::int64);
  const std::string count = x.reduce("ReduceSum", above, {1}, false);
  const std::string fewer = x.add_as(DType::boolean, "Less", {count, x.graph.ints({x.number("k")})});
  const std::string difference = x.squeeze(x.add("Sub", {own, own}), {1});  // NaN unless finite
  const std::string finite = x.add_as(DType::boolean, "Equal", {difference, x.like(own, 0)});
  return {x.add("And", {x.add("And", {fewer, finite}), x.add("Not", {outside})})};
}

}  // namespace

void add_reduction_rules(ExportRules& rules) {
  rules["sum"] = rules["mean"] = sum;
  rules["prod"] = prod;
  for (const char* name : {"max", "min", "all", "any"}) rules[name] = extreme;
  rules["argmax"] = rules["argmin"] = arg;
  rules["argsort"] = argsort;
  rules["top_k"] = top_k;
  rules["cumsum"] = cumsum;
  rules["in_top_k"] = in_top_k;
}

}  // namespace mezzo::detail
