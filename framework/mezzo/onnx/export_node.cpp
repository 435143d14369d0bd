#include <mezzo/onnx/export_node.hpp>

#include <algorithm>
#include <array>
#include <limits>

namespace mezzo::detail {
namespace {

constexpr int reductions_with_axes_as_inputs = 18;  // opset; ReduceSum has them since 13

}  // namespace

TracedShape ExportedNode::numbers(const std::string& name) const {
  TracedShape out(get<Shape>(name).size());
  for (const Node* one : traced) {
    const Shape& shape = one->attributes.get<Shape>(name);
    if (shape.size() != out.size()) refuse(fmt::format("the attribute {} of several lengths", name));
    for (std::size_t i = 0; i < shape.size(); ++i) out[i].push_back(shape[i]);
  }
  return out;
}

Shape ExportedNode::fixed(const std::string& name) const {
  Shape out;
  for (const TracedNumber& number : numbers(name)) {
    if (!is_fixed(number)) refuse(fmt::format("the attribute {} that depends on open sizes", name));
    out.push_back(number.front());
  }
  return out;
}

Shape ExportedNode::fixed_shape(std::size_t i) const {
  Shape out;
  for (const TracedNumber& size : shapes.at(i)) {
    if (!is_fixed(size)) refuse("the open size of an operand");
    out.push_back(size.front());
  }
  return out;
}

std::string ExportedNode::transpose(const std::string& x, const Shape& permutation) const {
  if (std::is_sorted(permutation.begin(), permutation.end())) return x;
  return add("Transpose", {x}, {{"perm", permutation}});
}

std::string ExportedNode::unsqueeze(const std::string& x, const Shape& axes) const {
  return axes.empty() ? x : add("Unsqueeze", {x, graph.ints(axes)});
}

std::string ExportedNode::squeeze(const std::string& x, const Shape& axes) const {
  return axes.empty() ? x : add("Squeeze", {x, graph.ints(axes)});
}

std::string ExportedNode::reshape(const std::string& x, const TracedShape& from, const TracedShape& to) const {
  if (from == to) return x;
  Shape target;
  std::size_t open = 0;
  bool empty = false;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const bool fixed = is_fixed(to[i]);
    empty = empty || (fixed && to[i].front() == 0);
    const bool kept = !fixed && i < from.size() && from[i] == to[i];
    if (!fixed && !kept) ++open;
    target.push_back(fixed ? to[i].front() : kept ? 0 : -1);  // 0: that of x
  }
  const bool direct = open <= 1 && !empty;
  return add("Reshape", {x, direct ? graph.ints(target) : sizes.list(to, where())},
             empty ? ExportAttributes{{"allowzero", 1}} : ExportAttributes{});
}

std::string ExportedNode::expand(const std::string& x, const TracedShape& from, const TracedShape& to) const {
  if (from == to) return x;
  TracedShape target = to;
  const std::size_t missing = to.size() - from.size();
  for (std::size_t i = 0; i < from.size(); ++i) {
    // Expand broadcasts in both directions: 1 keeps the size of x.
    if (from[i] == to[missing + i]) target[missing + i].assign(to[missing + i].size(), 1);
  }
  return add("Expand", {x, sizes.list(target, where())});
}

std::string ExportedNode::reduce(const std::string& op, const std::string& x, const Shape& axes, bool keepdims) const {
  if (axes.empty()) return add("Identity", {x});
  if (op == "ReduceSum" || graph.opset() >= reductions_with_axes_as_inputs) {
    return add(op, {x, graph.ints(axes)}, {{"keepdims", keepdims ? 1 : 0}});
  }
  return add(op, {x}, {{"axes", axes}, {"keepdims", keepdims ? 1 : 0}});
}

std::string ExportedNode::piece(const std::string& x, std::int64_t axis, std::int64_t from, std::int64_t to) const {
  return add("Slice", {x, graph.ints({from}), graph.ints({to}), graph.ints({axis})});
}

std::string ExportedNode::finished(const std::string& y) const {
  const Attributes& attributes = node().attributes;
  if (attributes.get_or("epilogue", Epilogue::none) == Epilogue::none) return y;
  if (!attributes.has("max_value")) return add("Relu", {y});
  return add("Min", {add("Max", {y, like(y, 0)}), like(y, attributes.get<double>("max_value"))});
}

void ExportedNode::refuse(const std::string& what) const {
  fail<ValueError>(where(), "export_onnx: the op {} with {} has no counterpart in ONNX's opset {}", node().op->name,
                   what, graph.opset());
}

const ExportRules& export_rules() {
  static const ExportRules rules = [] {
    ExportRules all;
    add_elementwise_rules(all);
    add_function_rules(all);
    add_integer_rules(all);
    add_shape_rules(all);
    add_reduction_rules(all);
    add_index_rules(all);
    add_window_rules(all);
    add_product_rules(all);
    add_norm_rules(all);
    add_recurrent_rules(all);
    add_encoding_rules(all);
    add_quantized_rules(all);
    return all;
  }();
  return rules;
}

}  // namespace mezzo::detail
