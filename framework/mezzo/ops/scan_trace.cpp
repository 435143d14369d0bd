#include <mezzo/ops/scan_trace.hpp>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/number_range.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo::detail {
namespace {

NodePtr input_node(const Spec& spec, std::uint64_t trace) {
  auto node = std::make_shared<Node>();
  node->op = &input_op();
  node->where = "[input]";
  node->attributes = {{"name", std::string("captured")}};
  node->outputs = {spec};
  node->trace = trace;
  return node;
}

/// Moves ops that don't depend on the iteration out of a body: casts of variables, transposed kernels, dropout masks of
/// the whole loop.
class Hoist {
 public:
  Hoist(Graph& graph, const std::vector<Trace::Captured>& captured) : graph_(graph) {
    for (const Trace::Captured& one : captured) {
      outside_[one.inside.node().get()] = {one.outside};
      inputs_.push_back({one.inside, one.outside});
    }
  }

  /// Operands of the body behind its own inputs.
  Values apply() {
    const LibraryScope as_inserted;
    std::vector<NodePtr> kept;
    for (const NodePtr& node : graph_.nodes) {
      if (movable(*node)) {
        outside_[node.get()] = insert_outside(*node);
        moved_.insert(node.get());
        continue;
      }
      for (Value& input : node->inputs) input = inside(input);
      kept.push_back(node);
    }
    for (auto& output : graph_.outputs) output.value = inside(output.value);
    graph_.nodes = std::move(kept);
    return used_inputs();
  }

 private:
  struct Input {
    Value inside, outside;
  };

  bool movable(const Node& node) {
    if (is(node, constant_op())) outside_[&node] = {Value(node.attributes.get<Tensor>("value"))};
    if (node.op->infer == nullptr || has_effect(node)) return false;
    return std::all_of(node.inputs.begin(), node.inputs.end(),
                       [&](const Value& input) { return outside_.count(input.node().get()) != 0; });
  }

  Values insert_outside(const Node& node) {
    const OriginScope origin(node.where, node.path);
    Values inputs;
    for (const Value& input : node.inputs) {
      inputs.push_back(outside_.at(input.node().get())[static_cast<std::size_t>(input.output())].across_border(false));
    }
    return insert(*node.op, std::move(inputs), node.attributes);
  }

  /// The value itself, or an input of the body if the value was moved.
  Value inside(const Value& value) {
    if (moved_.count(value.node().get()) == 0) return value;
    Value& found = replaced_[{value.node().get(), value.output()}];
    if (!found.defined()) {
      const Value& outside = outside_.at(value.node().get())[static_cast<std::size_t>(value.output())];
      const NodePtr leaf = input_node({outside.shape(), outside.dtype()}, value.node()->trace);
      found = Value(leaf, 0);
      inputs_.push_back({found, outside});
    }
    return found;
  }

  /// Makes the inputs that are still used the last ones of the graph.
  Values used_inputs() {
    std::unordered_set<const Node*> used;
    for (const NodePtr& node : graph_.nodes) {
      for (const Value& input : node->inputs) used.insert(input.node().get());
    }
    for (const auto& output : graph_.outputs) used.insert(output.value.node().get());
    std::unordered_set<const Node*> all;
    std::vector<NodePtr> nodes;
    Values captured;
    for (const Input& input : inputs_) {
      all.insert(input.inside.node().get());
      if (used.count(input.inside.node().get()) == 0) continue;
      nodes.push_back(input.inside.node());
      graph_.inputs.push_back(input.inside);
      captured.push_back(input.outside);
    }
    for (const NodePtr& node : graph_.nodes) {
      if (all.count(node.get()) == 0) nodes.push_back(node);
    }
    graph_.nodes = std::move(nodes);
    return captured;
  }

  Graph& graph_;
  std::vector<Input> inputs_;
  std::unordered_map<const Node*, Values> outside_;  // values around the loop, by nodes of the body
  std::unordered_set<const Node*> moved_;
  std::map<std::pair<const Node*, int>, Value> replaced_;
};

/// The new carry in the dtype of the old one, or, if it is wider, as it is.
Value checked_carry(const Value& carry, const Spec& before, std::size_t i, const std::string& where) {
  if (!carry.defined())
    fail<ValueError>(where, "carry {} must be defined; the function returned an undefined Value", i);
  const Value next = carry.weak() ? Value(number_as(carry.tensor(), before.dtype, where)) : carry;
  if (next.shape() != before.shape) {
    fail<ShapeError>(where, "carry {} must keep shape {}; the function returned shape {}", i, before.shape,
                     next.shape());
  }
  if (next.dtype() == before.dtype) return next;
  if (!is_floating(next.dtype()) || !is_floating(before.dtype)) {
    fail<DTypeError>(where, "carry {} must keep dtype {}; the function returned {}", i, before.dtype, next.dtype());
  }
  return promote(next.dtype(), before.dtype) == before.dtype ? as(next, before.dtype) : next;
}

bool reads_value(const Graph& graph, const Value& value) {
  const auto is_value = [&](const Value& other) { return other.node() == value.node(); };
  return std::any_of(
             graph.nodes.begin(), graph.nodes.end(),
             [&](const NodePtr& node) { return std::any_of(node->inputs.begin(), node->inputs.end(), is_value); }) ||
         std::any_of(graph.outputs.begin(), graph.outputs.end(), [&](const auto& o) { return is_value(o.value); });
}

}  // namespace

TracedBody trace_body(const ScanFunction& function, std::vector<Spec> carries, const std::vector<Spec>& elements) {
  const std::string where = current_label("scan");
  const bool training = training_phase();
  TracedBody out;
  out.draw_step = draw_step(DrawnFor::iteration);
  std::vector<Trace::Captured> captured;
  bool held = false;  // from functions of the program
  for (bool wider = true; wider;) {
    wider = false;
    Trace trace(Trace::Mode::body, training);
    Values carry, xs;
    for (const Spec& spec : carries) carry.push_back(trace.input("carry", spec));
    for (const Spec& spec : elements) xs.push_back(trace.input("x", spec));
    const Value step = trace.input("draw_step", Spec{{}, DType::float64});
    trace.set_draw_steps({step, out.draw_step});
    const ScanResult result = function(carry, xs);
    if (result.carry.size() != carries.size()) {
      fail<ValueError>(where, "the function must return {} carries; got {}", carries.size(), result.carry.size());
    }
    for (std::size_t i = 0; i < carries.size(); ++i) {
      const Value next = checked_carry(result.carry[i], carries[i], i, where);
      wider = wider || next.dtype() != carries[i].dtype;
      carries[i].dtype = next.dtype();
      trace.output("carry", next);
    }
    for (std::size_t i = 0; i < result.outputs.size(); ++i) {
      if (!result.outputs[i].defined()) {
        fail<ValueError>(where, "output {} must be defined; the function returned an undefined Value", i);
      }
      trace.output("y", result.outputs[i]);
    }
    if (wider) continue;
    out.body = std::make_shared<ScanBody>();
    Graph& graph = out.body->graph = std::move(trace.graph());
    out.draws = reads_value(graph, step);
    if (!out.draws) {
      graph.inputs.erase(std::find_if(graph.inputs.begin(), graph.inputs.end(),
                                      [&](const Value& input) { return input.same_as(step); }));
      graph.nodes.erase(std::find(graph.nodes.begin(), graph.nodes.end(), step.node()));
    }
    captured = trace.captured();
    held = std::any_of(graph.nodes.begin(), graph.nodes.end(),
                       [](const NodePtr& node) { return is(*node, ops::custom_gradient); });
  }
  if (held) {
    for (const Trace::Captured& one : captured) {
      out.body->graph.inputs.push_back(one.inside);
      out.captured.push_back(one.outside);
    }
  } else {
    out.captured = Hoist(out.body->graph, captured).apply();
  }
  for (const Spec& spec : carries) out.carries.push_back(spec.dtype);
  return out;
}

Values replay(const Graph& graph, const Values& inputs) {
  Trace& trace = *Trace::current();
  std::unordered_map<const Node*, Values> known;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    known[graph.inputs[i].node().get()] = {inputs[i]};
    trace.replace(graph.inputs[i], inputs[i]);
  }
  const auto of = [&](const Value& value) {
    return known.at(value.node().get())[static_cast<std::size_t>(value.output())];
  };
  for (const NodePtr& node : graph.nodes) {
    if (known.count(node.get()) != 0) continue;
    if (is(*node, constant_op())) {
      known[node.get()] = {trace.adopt(Value(node->attributes.get<Tensor>("value")))};
      continue;
    }
    const OriginScope origin(node->where, node->path);
    Values operands;
    for (const Value& input : node->inputs) operands.push_back(of(input));
    Values results = insert(*node->op, std::move(operands), node->attributes);
    for (std::size_t i = 0; i < results.size(); ++i) trace.replace(Value(node, static_cast<int>(i)), results[i]);
    known[node.get()] = std::move(results);
  }
  Values out;
  for (const auto& output : graph.outputs) out.push_back(of(output.value));
  return out;
}

}  // namespace mezzo::detail
