#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <mezzo/compiler/live_bytes.hpp>
#include <mezzo/compiler/pass_attributes.hpp>
#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/compiler/recomputed_norms.hpp>
#include <mezzo/compiler/rewrite.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

/// A chain becomes sparse if the peak falls to this part of it or less. A judgement: the passes of a sparse chain of
/// resnet50 take 1 % of its step.
constexpr double most_of_peak = 0.98;

/// Which outputs stay that are computed again on the way to that of a later norm of their chain, until their own
/// readers. All stay, except in sparse chains: their last norm lets none stay, the others let every k-th stay, where k
/// is the root of the chain's length. A sparse chain of n norms takes less memory and up to 3 n computations.
class StayingResiduals {
 public:
  void make_sparse(const NormChain& chain) {
    const auto distance = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(chain.size()))));
    for (std::size_t i = 0; i < chain.size(); ++i) {
      if ((i + 1) % distance != 0) passing_.insert(chain[i]);
    }
    lasts_.insert(chain.back());
  }

  /// `norm`: computed on the way to that of `target`.
  bool stays(const detail::Node& norm, const detail::Node& target) const {
    return lasts_.count(&target) == 0 && passing_.count(&norm) == 0;
  }

 private:
  std::unordered_set<const detail::Node*> passing_;  // norms between those that stay
  std::unordered_set<const detail::Node*> lasts_;    // last norms of sparse chains
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
  Again(const RecomputedNorms& norms, const StayingResiduals& staying) : norms_(&norms), staying_(&staying) {}

  /// y of `norm` for a reader, which `to` visits.
  Value operator()(const detail::NodePtr& norm, Rewriter& to) { return made_[norm.get()] = compute(norm, *norm, to); }

 private:
  Value compute(const detail::NodePtr& norm, const detail::Node& target, Rewriter& to) {
    const auto found = made_.find(norm.get());
    if (found != made_.end()) return found->second;
    const auto statistic = [&](int output) { return to.of(Value(norm, output)); };
    Values inputs{to.of(norm->inputs[0]), to.of(norm->inputs[1]), statistic(5), statistic(1), statistic(2)};
    if (norm->inputs.size() > 5) {
      const Value& residual = norm->inputs[5];
      const bool again = norms_->residual_of(*norm) != nullptr;
      inputs.push_back(again ? compute(residual.node(), target, to) : to.of(residual));
    }
    Attributes attributes = norm->attributes;
    attributes.set("training", false);
    attributes.set("shift", false);
    attributes.set(detail::again, true);
    const detail::NodePtr node = make_node(ops::batch_norm, std::move(inputs), std::move(attributes),
                                           {norm->outputs.begin(), norm->outputs.begin() + 5}, *norm);
    node->again = true;
    const Value y = to.add(node).front();
    if (staying_->stays(*norm, target)) made_[norm.get()] = y;
    return y;
  }

  const RecomputedNorms* norms_;
  const StayingResiduals* staying_;
  std::unordered_map<const detail::Node*, Value> made_;
};

Graph recomputed(const Graph& graph, const RecomputedNorms& norms, const StayingResiduals& staying) {
  Again again(norms, staying);
  return rewrite(graph, [&](const detail::NodePtr& old, const detail::NodePtr& node, Rewriter& to) -> Values {
    if (is(*old, ops::batch_norm) && norms.is_needed(*old)) return to.add(with_shift(*node));
    if (!is_gradient(*old)) return {};
    Values inputs = node->inputs;
    bool changed = false;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Value& input = old->inputs[i];
      if (!is_first_output(input, ops::batch_norm) || !norms.contains(*input.node())) continue;
      inputs[i] = again(input.node(), to);
      changed = true;
    }
    if (!changed) return {};
    return to.add(make_node(*node->op, std::move(inputs), node->attributes, node->outputs, *node));
  });
}

}  // namespace

Graph recompute_norms(const Graph& graph) {
  const RecomputedNorms norms(graph);
  StayingResiduals staying;
  Graph best = recomputed(graph, norms, staying);
  std::size_t peak = peak_of_live_bytes(best);
  std::vector<NormChain> chains = norms.chains(graph);
  const auto lowers_peak = [&](const NormChain& chain) {
    if (chain.size() == 1) return false;
    StayingResiduals fewer = staying;
    fewer.make_sparse(chain);
    Graph sparse = recomputed(graph, norms, fewer);
    const std::size_t lower = peak_of_live_bytes(sparse);
    if (static_cast<double>(lower) > most_of_peak * static_cast<double>(peak)) return false;
    staying = std::move(fewer);
    best = std::move(sparse);
    peak = lower;
    return true;
  };
  // A chain at the peak hides the next one, so each success starts the search again.
  auto found = std::find_if(chains.begin(), chains.end(), lowers_peak);
  while (found != chains.end()) {
    chains.erase(found);
    found = std::find_if(chains.begin(), chains.end(), lowers_peak);
  }
  return best;
}

}  // namespace mezzo
