#include <limits>

#include <mezzo/onnx/export_node.hpp>

// Ops that move elements.
namespace mezzo::detail {
namespace {

constexpr std::int64_t to_the_end = std::numeric_limits<std::int64_t>::max();

ExportNames reshape(const ExportedNode& x) { return {x.reshape(x.in(), x.shapes[0], x.results[0])}; }

ExportNames broadcast_to(const ExportedNode& x) { return {x.expand(x.in(), x.shapes[0], x.results[0])}; }

ExportNames transpose(const ExportedNode& x) { return {x.transpose(x.in(), x.get<Shape>("permutation"))}; }

ExportNames concat(const ExportedNode& x) { return {x.add("Concat", x.inputs, {{"axis", x.number("axis")}})}; }

ExportNames flip(const ExportedNode& x) {
  const Shape axes = x.get<Shape>("axes");
  if (axes.empty()) return {x.in()};
  const Shape back(axes.size(), -1), front(axes.size(), std::numeric_limits<std::int64_t>::min());
  return {x.add("Slice", {x.in(), x.graph.ints(back), x.graph.ints(front), x.graph.ints(axes), x.graph.ints(back)})};
}

ExportNames slice(const ExportedNode& x) {
  const TracedShape starts = x.numbers("starts");
  TracedShape from, to;
  Shape axes;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const TracedNumber &size = x.results[0][i], &whole = x.shapes[0][i];
    if (size == whole) continue;
    TracedNumber end;
    bool last = true;
    for (std::size_t t = 0; t < size.size(); ++t) {
      end.push_back(starts[i][t] + size[t]);
      last = last && end.back() == whole[t];
    }
    if (last) end.assign(size.size(), to_the_end);
    axes.push_back(static_cast<std::int64_t>(i));
    from.push_back(starts[i]);
    to.push_back(end);
  }
  if (axes.empty()) return {x.in()};
  return {x.add("Slice", {x.in(), x.sizes.list(from, x.where()), x.sizes.list(to, x.where()), x.graph.ints(axes)})};
}

ExportNames split(const ExportedNode& x) {
  const std::string sizes = x.sizes.list(x.numbers("sizes"), x.where());
  const std::vector<DType> dtypes(x.results.size(), x.dtype());
  return x.graph.add_many("Split", {x.in(), sizes}, {{"axis", x.number("axis")}}, dtypes);
}

ExportNames pad(const ExportedNode& x) {
  TracedShape pads = x.numbers("before");
  const TracedShape after = x.numbers("after");
  pads.insert(pads.end(), after.begin(), after.end());
  // Bools are padded as integers: runtimes lack the operator for them.
  const bool logical = x.dtype() == DType::boolean;
  const std::string value = logical ? x.graph.cast(x.in(), DType::int32) : x.in();
  const std::string padded = x.add("Pad", {value, x.sizes.list(pads, x.where()), x.like(value, 0)});
  return {x.graph.cast(padded, x.dtype())};
}

}  // namespace

void add_shape_rules(ExportRules& rules) {
  rules["reshape"] = reshape;
  rules["broadcast_to"] = broadcast_to;
  rules["transpose"] = transpose;
  rules["concat"] = concat;
  rules["flip"] = flip;
  rules["slice"] = slice;
  rules["split"] = split;
  rules["pad"] = pad;
}

}  // namespace mezzo::detail
