#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <mezzo/compiler/pass_attributes.hpp>
#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/compiler/rewrite.hpp>
#include <mezzo/compiler/work.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

constexpr std::size_t least_bytes = std::size_t{1} << 20U;  // smaller outputs save too little

/// Least operations of a reader for each number that is computed again. An estimate, not measured: a core computes 256
/// operations of products in about 2.5 ns, and reads and writes one number of this pass in 0.5.
constexpr double least_operations = 256;

bool is_output_of_norm(const Value& value) { return is(value, ops::batch_norm) && value.output() == 0; }

bool is_gradient(const detail::Node& node) { return node.op->name.find("_gradient") != std::string::npos; }

/// Chooses norms whose output is computed again before its first reader in the backward pass.
class RecomputedNorms {
 public:
  explicit RecomputedNorms(const Graph& graph) {
    find_readers(graph);
    for (const detail::NodePtr& node : graph.nodes) {
      if (is(*node, ops::batch_norm) && is_worth_it(*node) && can_compute(*node, first_.at(node.get()))) {
        chosen_.insert(node.get());
      }
    }
  }

  /// True for norms whose output readers of the backward pass compute again.
  bool contains(const detail::Node& norm) const { return chosen_.count(&norm) > 0; }
  /// True for norms that are computed again for their readers or as the residual of another norm.
  bool is_needed(const detail::Node& norm) const { return contains(norm) || residuals_.count(&norm) > 0; }

 private:
  using Places = std::unordered_map<const detail::Node*, std::size_t>;

  void find_readers(const Graph& graph) {
    for (std::size_t place = 0; place < graph.nodes.size(); ++place) {
      const detail::Node& reader = *graph.nodes[place];
      for (const Value& input : reader.inputs) {
        const detail::Node* const node = input.node().get();
        if (input.output() == 0) last_[node] = place;
        if (!is_output_of_norm(input)) continue;
        if (is_gradient(reader)) {
          first_.emplace(node, place);
          work_[node] = std::max(work_[node], operations(request_of(reader)));
        } else if (first_.count(node) > 0) {
          late_.insert(node);
        }
      }
    }
    const auto keep = [&](const Value& value) {
      if (value.output() == 0) kept_.insert(value.node().get());
    };
    for (const Graph::Output& output : graph.outputs) keep(output.value);
    for (const Graph::Update& update : graph.updates) keep(update.value);
    for (const Graph::Gate& gate : graph.gates) keep(gate.ok);
  }

  /// True for large outputs of norms with a relu: with a residual, or of which the work of the gradient of a kernel is
  /// a multiple of that of the norm, or that no gradient of a kernel reads.
  bool is_worth_it(const detail::Node& norm) const {
    if (first_.count(&norm) == 0 || late_.count(&norm) > 0 || kept_.count(&norm) > 0 ||
        bytes_of(norm.outputs[0]) < least_bytes)
      return false;
    if (!norm.attributes.has("epilogue")) return false;
    const double numbers = static_cast<double>(element_count(norm.outputs[0].shape)), work = work_.at(&norm);
    return norm.inputs.size() > 5 || work == 0 || work >= least_operations * numbers;
  }

  /// True if the operands of a norm are live at that place anyway, or can be computed there. x must be an output 0,
  /// for which last_ is known.
  bool can_compute(const detail::Node& norm, std::size_t place) {
    const auto is_live = [&](const Value& value) {
      const detail::Node* const node = value.node().get();
      const auto last = last_.find(node);
      const bool is_read = last != last_.end() && last->second >= place;
      return value.output() == 0 && (is_read || kept_.count(node) > 0);
    };
    if (norm.attributes.get_or(detail::again, false) || !is_live(norm.inputs[0])) return false;
    if (norm.inputs.size() <= 5) return true;
    const Value& residual = norm.inputs[5];
    if (!is_output_of_norm(residual)) return is_live(residual);
    const detail::Node& other = *residual.node();
    if (contains(other)) return true;
    if (is_live(residual)) return true;
    if (!can_compute(other, place)) return false;
    residuals_.insert(&other);
    return true;
  }

  Places last_;   // by node: the last reader of output 0
  Places first_;  // by norm: the first reader of y in the backward pass
  std::unordered_map<const detail::Node*, double> work_;
  std::unordered_set<const detail::Node*> kept_;       // nodes whose output 0 lives until the end of the graph
  std::unordered_set<const detail::Node*> late_;       // norms that a forward reader reads after a backward one
  std::unordered_set<const detail::Node*> chosen_;     // norms that are computed again for their readers
  std::unordered_set<const detail::Node*> residuals_;  // norms that are computed again as residuals of those
};

/// The norm with the shift of its output among its outputs.
detail::NodePtr with_shift(const detail::Node& norm) {
  Attributes attributes = norm.attributes;
  attributes.set("shift", true);
  std::vector<Spec> outputs = norm.outputs;
  outputs.resize(6, outputs[1]);
  return make_node(*norm.op, norm.inputs, std::move(attributes), std::move(outputs), norm);
}

/// Adds nodes that compute y again.
class Again {
 public:
  Again(const RecomputedNorms& norms, Rewriter& to, std::unordered_map<const detail::Node*, Value>& made)
      : norms_(norms), to_(to), made_(made) {}

  Value operator()(const detail::NodePtr& norm) const {
    const auto found = made_.find(norm.get());
    if (found != made_.end()) return found->second;
    const auto statistic = [&](int output) { return to_.of(Value(norm, output)); };
    Values inputs{to_.of(norm->inputs[0]), to_.of(norm->inputs[1]), statistic(5), statistic(1), statistic(2)};
    if (norm->inputs.size() > 5) {
      const Value& residual = norm->inputs[5];
      const bool again = is_output_of_norm(residual) && norms_.is_needed(*residual.node());
      inputs.push_back(again ? (*this)(residual.node()) : to_.of(residual));
    }
    Attributes attributes = norm->attributes;
    attributes.set("training", false);
    attributes.set("shift", false);
    attributes.set(detail::again, true);
    const detail::NodePtr node = make_node(ops::batch_norm, std::move(inputs), std::move(attributes),
                                           {norm->outputs.begin(), norm->outputs.begin() + 5}, *norm);
    node->again = true;
    return made_[norm.get()] = to_.add(node).front();
  }

 private:
  const RecomputedNorms& norms_;
  Rewriter& to_;
  std::unordered_map<const detail::Node*, Value>& made_;
};

}  // namespace

Graph recompute_norms(const Graph& graph) {
  const RecomputedNorms norms(graph);
  std::unordered_map<const detail::Node*, Value> made;
  return rewrite(graph, [&](const detail::NodePtr& old, const detail::NodePtr& node, Rewriter& to) -> Values {
    if (is(*old, ops::batch_norm) && norms.is_needed(*old)) return to.add(with_shift(*node));
    if (!is_gradient(*old)) return {};
    Values inputs = node->inputs;
    bool changed = false;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Value& input = old->inputs[i];
      if (!is_output_of_norm(input) || !norms.contains(*input.node())) continue;
      inputs[i] = Again(norms, to, made)(input.node());
      changed = true;
    }
    if (!changed) return {};
    return to.add(make_node(*node->op, std::move(inputs), node->attributes, node->outputs, *node));
  });
}

}  // namespace mezzo
