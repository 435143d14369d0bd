#include <mezzo/onnx/export_node.hpp>

// Normalization with given statistics, and over the last axes.
namespace mezzo::detail {
namespace {

/// Permutation that moves the last axis behind the first.
Shape channel_second(std::size_t rank) {
  Shape out{0, static_cast<std::int64_t>(rank) - 1};
  for (std::size_t i = 1; i + 1 < rank; ++i) out.push_back(static_cast<std::int64_t>(i));
  return out;
}

ExportNames batch_norm(const ExportedNode& x) {
  if (x.get<bool>("training")) x.refuse("the statistics of the batch");
  for (std::size_t i = 1; i < x.used.size(); ++i) {
    if (x.used[i]) x.refuse("its statistics as results");
  }
  const DType wide = accumulation_dtype(x.dtype());
  ExportNames operands{x.graph.cast(x.in(0), wide)};
  for (std::size_t i = 1; i < 5; ++i) operands.push_back(x.graph.cast(x.in(i), wide));
  const Shape to_front = x.rank() > 2 ? channel_second(x.rank()) : Shape{0, 1};
  if (x.rank() < 2) x.refuse("one axis");
  operands[0] = x.transpose(operands[0], to_front);
  const std::string y = x.add("BatchNormalization", operands, {{"epsilon", x.get<double>("epsilon")}});
  std::string out = x.transpose(y, inverse_permutation(to_front));
  if (x.inputs.size() > 5) out = x.add("Add", {out, x.graph.cast(x.in(5), wide)});
  return {x.graph.cast(x.finished(out), x.result_dtype()), "", "", "", ""};
}

ExportNames layer_norm(const ExportedNode& x) {
  for (std::size_t i = 1; i < x.used.size(); ++i) {
    if (x.used[i]) x.refuse("its statistics as results");
  }
  const DType wide = accumulation_dtype(x.dtype());
  const auto axes = static_cast<std::int64_t>(x.rank(1));
  const ExportNames operands{x.graph.cast(x.in(0), wide), x.graph.cast(x.in(1), wide), x.graph.cast(x.in(2), wide)};
  const std::string y = x.add("LayerNormalization", operands, {{"axis", -axes}, {"epsilon", x.get<double>("epsilon")}});
  return {x.graph.cast(y, x.result_dtype()), "", ""};
}

}  // namespace

void add_norm_rules(ExportRules& rules) {
  rules["batch_norm"] = batch_norm;
  rules["layer_norm"] = layer_norm;
}

}  // namespace mezzo::detail
