#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/gradient_context.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/ops/gradients.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {
namespace {

/// Dtype in which cotangents of `value` are accumulated: the value's own. For the low-precision copy of a variable, or
/// a view of it, the wider of the copy's and the variable's dtype, so that several uses accumulate in float32. A value
/// that the body of a loop reads from outside has the dtype of its cotangent outside. Those of float8 are float32.
DType cotangent_dtype(const Value& value) {
  detail::NodePtr node = value.node();
  while (node && node->op->view) node = node->inputs.front().node();
  if (node && is(*node, input_op())) return node->attributes.get_or("cotangent", value.dtype());
  if (node && is(*node, ops::cast)) {
    const Value& source = node->inputs.front();
    const bool of_variable =
        source.node() && (source.node()->variable || is(source, ops::join_master) || Trace::current()->is_read(source));
    if (of_variable && is_floating(source.dtype())) {
      return promote(source.dtype(), value.dtype());
    }
  }
  return is_float8(value.dtype()) ? DType::float32 : value.dtype();
}

/// Computes the nodes of layers' calls again, as new nodes after all others, if their RematCall is marked.
class Recomputation {
 public:
  explicit Recomputation(const std::vector<detail::NodePtr>& nodes) {
    if (Trace::current()->mode() != Trace::Mode::graph)
      return;  // neither in eager steps, which keep all values, nor
               // in loops
    for (const detail::NodePtr& node : nodes) {
      if (const detail::RematCall* const call = call_of(*node)) calls_[call].push_back(node);
    }
  }

  /// The node in place of `node`: itself, or one that computes the same from the inputs of the call.
  detail::NodePtr of(const detail::NodePtr& node) {
    const auto call = calls_.find(call_of(*node));
    if (call == calls_.end()) return node;
    for (const detail::NodePtr& each : std::exchange(call->second, {})) compute_again(each);
    const auto found = nodes_.find(node.get());
    return found == nodes_.end() ? node : found->second;
  }

 private:
  static const detail::RematCall* call_of(const detail::Node& node) {
    for (const auto& call : node.remat) {
      if (call->again) return call.get();
    }
    return nullptr;
  }

  /// True for the copy of a variable in another dtype, or a view of it: it is kept from step to step.
  static bool copies_variable(const detail::Node& node) {
    if (!is(node, ops::cast) && !is(node, ops::join_master) && !node.op->view) return false;
    const Value& source = node.inputs.front();
    return source.node()->variable || Trace::current()->is_read(source) || copies_variable(*source.node());
  }

  void compute_again(const detail::NodePtr& node) {
    if (node->inputs.empty() || detail::has_effect(*node) || copies_variable(*node)) return;
    const auto copy = std::make_shared<detail::Node>(*node);
    copy->remat.clear();
    copy->again = true;
    for (Value& input : copy->inputs) {
      const auto found = nodes_.find(input.node().get());
      if (found != nodes_.end()) input = Value(found->second, input.output());
    }
    Trace::current()->append(copy);
    nodes_[node.get()] = copy;
  }

  std::unordered_map<const detail::RematCall*, std::vector<detail::NodePtr>>
      calls_;                                                       // empty once they are computed again
  std::unordered_map<const detail::Node*, detail::NodePtr> nodes_;  // new nodes by old ones
};

class Backward {
 public:
  Backward(std::vector<detail::NodePtr> nodes, const Values& xs) : nodes_(std::move(nodes)), again_(nodes_) {
    for (const Value& x : xs) needed_.insert(x.node().get());
    for (const detail::NodePtr& node : nodes_) {
      for (const Value& input : node->inputs) {
        if (needed_.count(input.node().get()) != 0) needed_.insert(node.get());
      }
    }
  }

  void start(const Value& value, const Value& cotangent) { accumulate(value, cotangent); }

  void run() {
    for (std::size_t i = nodes_.size(); i-- > 0;) visit(nodes_[i]);
  }

  /// Cotangent of x; undefined if the loss doesn't depend on x.
  Value of(const Value& x) const {
    const auto found = cotangents_.find(x.node().get());
    return found == cotangents_.end() ? Value() : found->second[static_cast<std::size_t>(x.output())];
  }

 private:
  void accumulate(const Value& value, const Value& cotangent) {
    Values& slots = cotangents_[value.node().get()];
    slots.resize(value.node()->outputs.size());
    Value& slot = slots[static_cast<std::size_t>(value.output())];
    slot = slot.defined() ? add(slot, cotangent) : cotangent;
  }

  void visit(const detail::NodePtr& node) {
    const auto found = cotangents_.find(node.get());
    if (found == cotangents_.end() || !node->op->gradient) return;
    const Values cotangents = found->second;
    std::vector<bool> needed;
    std::vector<DType> dtypes;
    for (const Value& input : node->inputs) {
      needed.push_back(needed_.count(input.node().get()) != 0 &&
                       (is_floating(input.dtype()) || is_float8(input.dtype())));
      dtypes.push_back(cotangent_dtype(input));
    }
    if (std::find(needed.begin(), needed.end(), true) == needed.end()) return;
    const detail::OriginScope origin(node->where, node->path);
    const detail::NodePtr source = again_.of(node);
    const Values gradients = node->op->gradient({source, cotangents, needed, dtypes});
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (needed[i] && gradients[i].defined()) accumulate(node->inputs[i], detail::as(gradients[i], dtypes[i]));
    }
  }

  const std::vector<detail::NodePtr> nodes_;  // a copy: gradients append to the trace
  Recomputation again_;
  std::unordered_set<const detail::Node*> needed_;
  std::unordered_map<const detail::Node*, Values> cotangents_;
};

/// Variable that a value reads, before or after an update; null if it is computed.
const detail::VariableState* variable_of(const Value& value) {
  if (const detail::VariableState* const variable = detail::read_by(value)) return variable;
  for (const Graph::Update& update : Trace::current()->graph().updates) {
    if (update.value.same_as(value)) return update.variable.get();
  }
  return nullptr;
}

}  // namespace

const detail::VariableState* detail::read_by(const Value& value) {
  if (!value.node()) return nullptr;
  if (is(value, ops::join_master)) return read_by(value.node()->inputs.front());
  return value.node()->variable.get();
}

Values detail::partial_gradients(const Value& loss, const Values& xs, const Value& seed, std::size_t first) {
  const detail::LibraryScope as_inserted;
  Trace* trace = Trace::current();
  if (trace == nullptr) fail<ValueError>("[gradients]", "must be called inside a trace; got no trace");
  if (!is_floating(loss.dtype())) {
    fail<DTypeError>("[gradients]", "the loss must be floating; got {}", loss.dtype());
  }
  const Value target = trace->adopt(loss);
  Values sources;
  for (const Value& x : xs) sources.push_back(trace->adopt(x));
  const Value number = seed.weak() ? Value(seed.tensor()) : seed;
  const Value start = number.dtype() == target.dtype() ? number : cast(number, target.dtype());
  const auto& nodes = trace->graph().nodes;
  first = std::min(first, nodes.size());
  Backward backward({nodes.begin() + static_cast<std::ptrdiff_t>(first), nodes.end()}, sources);
  backward.start(target, target.shape().empty() ? start : broadcast_to(start, target.shape()));
  backward.run();
  Values out;
  for (const Value& x : sources) out.push_back(backward.of(x));
  return out;
}

Values detail::pull_back(const Values& ys, const Values& cotangents, const Values& xs) {
  const detail::LibraryScope as_inserted;
  Trace& trace = *Trace::current();
  Backward backward(trace.graph().nodes, xs);
  for (std::size_t i = 0; i < ys.size(); ++i) {
    if (cotangents[i].defined()) backward.start(trace.adopt(ys[i]), cotangents[i]);
  }
  backward.run();
  Values out;
  for (const Value& x : xs) out.push_back(backward.of(x));
  return out;
}

Values gradients(const Value& loss, const Values& xs, const Value& seed) {
  Values out = detail::partial_gradients(loss, xs, seed);
  for (std::size_t i = 0; i < xs.size(); ++i) {
    if (out[i].defined()) continue;
    if (const detail::VariableState* const variable = variable_of(xs[i])) {
      fail<ValueError>(
          "[gradients]",
          "the loss must depend on variable \"{}\", as it was read; got a loss that doesn't (it is computed "
          "from other variables, or from the value before an update)",
          variable->name);
    }
    out[i] = Tensor(xs[i].shape(), xs[i].dtype());
  }
  return out;
}

}  // namespace mezzo
