#include <mezzo/training/step/trained_weights.hpp>

#include <set>
#include <unordered_set>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/nn/layer.hpp>
#include <mezzo/training/step/optimizer_weights.hpp>

namespace mezzo::detail {
namespace {

/// Reads of variables that a loss is computed from. Stops at them: an update lies between two reads.
class ReadsBehind {
 public:
  explicit ReadsBehind(const Value& loss) : trace_(*Trace::current()) {
    visit(loss);
    while (!pending_.empty()) {
      const NodePtr node = pending_.back();
      pending_.pop_back();
      for (const Value& input : node->inputs) visit(input);
    }
  }

  bool has(const Value& read) const { return reads_.count({read.node().get(), read.output()}) == 1; }

 private:
  void visit(const Value& value) {
    if (trace_.is_read(value)) {
      reads_.emplace(value.node().get(), value.output());
    } else if (seen_.insert(value.node().get()).second) {
      pending_.push_back(value.node());
    }
  }

  const Trace& trace_;
  std::set<std::pair<const Node*, int>> reads_;
  std::unordered_set<const Node*> seen_;
  std::vector<NodePtr> pending_;
};

}  // namespace

LossReads reads_of(const Module& module, const OptimizerConfig& config, const Value& loss) {
  const ReadsBehind behind(loss);
  LossReads out;
  for (const WeightPolicy& weight : weight_policies(module, {})) {
    const auto& variable = weight.variable.state().pointer();
    const Trace::Reads& reads = Trace::current()->reads(variable);
    const bool trained = weight.trainable && trains(config, weight.variable);
    if (trained && !reads.values.empty()) out.paths.push_back(weight.path);
    for (std::size_t i = 0; i < reads.values.size(); ++i) {
      if (!behind.has(reads.values[i])) continue;
      const bool newest = i + 1 == reads.values.size() && !reads.restarts;
      if (trained) out.weights.push_back({weight.path, variable, reads.values[i], newest});
    }
  }
  return out;
}

bool show_gradients(const std::vector<TrainedWeight>& weights, Values& values,
                    const std::function<void(Gradients&)>& hook) {
  Gradients gradients;
  for (std::size_t i = 0; i < values.size(); ++i) {
    gradients.push_back({weights[i].path, Variable(Shared<VariableState>(weights[i].variable)), values[i]});
  }
  const std::size_t count = gradients.size();
  hook(gradients);
  if (gradients.size() != count) {
    fail<ValueError>("[Module]", "a hook must leave all {} gradients in the list; got {}", count, gradients.size());
  }
  bool replaced = false;
  std::size_t next = 0;
  for (Value& value : values) {
    const Gradient& shown = gradients[next++];
    if (shown.value.same_as(value)) continue;
    if (!shown.value.defined() || shown.value.shape() != value.shape()) {
      fail<ShapeError>("[Module]", "the gradient of \"{}\" must keep its shape {}; a hook gave shape {}", shown.path,
                       value.shape(), shown.value.defined() ? shown.value.shape() : Shape{});
    }
    value = shown.value;
    replaced = true;
  }
  return replaced;
}

}  // namespace mezzo::detail
