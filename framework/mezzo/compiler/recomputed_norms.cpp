#include <mezzo/compiler/recomputed_norms.hpp>

#include <algorithm>
#include <string>

#include <mezzo/compiler/pass_attributes.hpp>
#include <mezzo/compiler/rewrite.hpp>
#include <mezzo/compiler/work.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

constexpr std::size_t least_bytes = std::size_t{1} << 20U;  // smaller outputs save too little

/// Least operations of a reader for each number that is computed again. An estimate, not measured: a core computes 256
/// operations of products in about 2.5 ns, and reads and writes one number of this pass in 0.5.
constexpr double least_operations = 256;

}  // namespace

bool is_gradient(const detail::Node& node) { return node.op->name.find("_gradient") != std::string::npos; }

RecomputedNorms::RecomputedNorms(const Graph& graph) {
  find_readers(graph);
  for (const detail::NodePtr& node : graph.nodes) {
    if (is(*node, ops::batch_norm) && is_worth_it(*node) && can_compute(*node, first_.at(node.get()))) {
      chosen_.insert(node.get());
    }
  }
}

void RecomputedNorms::find_readers(const Graph& graph) {
  for (std::size_t place = 0; place < graph.nodes.size(); ++place) {
    const detail::Node& reader = *graph.nodes[place];
    for (const Value& input : reader.inputs) {
      const detail::Node* const node = input.node().get();
      if (input.output() == 0) last_[node] = place;
      if (!is_first_output(input, ops::batch_norm)) continue;
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

// True for large outputs of norms with a relu: with a residual, or of which the work of the gradient of a kernel is a
// multiple of that of the norm, or that no gradient of a kernel reads.
bool RecomputedNorms::is_worth_it(const detail::Node& norm) const {
  if (first_.count(&norm) == 0 || late_.count(&norm) > 0 || kept_.count(&norm) > 0 ||
      bytes_of(norm.outputs[0]) < least_bytes)
    return false;
  if (!norm.attributes.has("epilogue")) return false;
  const double numbers = static_cast<double>(element_count(norm.outputs[0].shape)), work = work_.at(&norm);
  return norm.inputs.size() > 5 || work == 0 || work >= least_operations * numbers;
}

// True if the operands of a norm are live at that place anyway, or can be computed there. x must be an output 0, for
// which last_ is known.
bool RecomputedNorms::can_compute(const detail::Node& norm, std::size_t place) {
  const auto is_live = [&](const Value& value) {
    const detail::Node* const node = value.node().get();
    const auto last = last_.find(node);
    const bool is_read = last != last_.end() && last->second >= place;
    return value.output() == 0 && (is_read || kept_.count(node) > 0);
  };
  if (norm.attributes.get_or(detail::again, false) || !is_live(norm.inputs[0])) return false;
  if (norm.inputs.size() <= 5) return true;
  const Value& residual = norm.inputs[5];
  if (!is_first_output(residual, ops::batch_norm)) return is_live(residual);
  const detail::Node& other = *residual.node();
  if (contains(other)) return true;
  if (is_live(residual)) return true;
  if (!can_compute(other, place)) return false;
  residuals_.insert(&other);
  return true;
}

const detail::Node* RecomputedNorms::residual_of(const detail::Node& norm) const {
  if (norm.inputs.size() <= 5 || !is_first_output(norm.inputs[5], ops::batch_norm)) return nullptr;
  const detail::Node* const residual = norm.inputs[5].node().get();
  return is_needed(*residual) ? residual : nullptr;
}

std::vector<NormChain> RecomputedNorms::chains(const Graph& graph) const {
  std::vector<NormChain> all;
  std::unordered_map<const detail::Node*, std::size_t> chain_of;
  for (const detail::NodePtr& node : graph.nodes) {
    if (!is(*node, ops::batch_norm) || !is_needed(*node)) continue;
    const detail::Node* const residual = residual_of(*node);
    const std::size_t chain = residual != nullptr ? chain_of.at(residual) : all.size();
    if (chain == all.size()) all.emplace_back();
    all[chain].push_back(node.get());
    chain_of[node.get()] = chain;
  }
  return all;
}

}  // namespace mezzo
