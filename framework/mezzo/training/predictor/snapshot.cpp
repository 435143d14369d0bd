#include <mezzo/training/predictor/snapshot.hpp>

#include <algorithm>
#include <utility>

#include <mezzo/compiler/inference/freeze.hpp>
#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/fork.hpp>
#include <mezzo/core/random.hpp>

namespace mezzo::detail {

Snapshot::Snapshot(Module& module, std::shared_ptr<Module> copy, SnapshotOptions options)
    : options_(std::move(options)), kind_(module.state()->kind), copy_(std::move(copy)) {
  Module& traced = copy_ ? *copy_ : module;
  for (const std::vector<Spec>& inputs : options_.ahead) known_.push_back({inputs, trace(traced, inputs)});
}

std::shared_ptr<const Graph> Snapshot::trace(Module& module, const std::vector<Spec>& inputs) {
  const Graph graph = trace_predict_step(module, options_.setting, inputs);
  if (!graph.updates.empty()) {
    fail<ValueError>("[Predictor]",
                     "the model must not change variables when it predicts; got an update of \"{}\": use predict()",
                     graph.updates.front().variable->name);
  }
  return std::make_shared<const Graph>(run_passes(freeze(graph, constants_)));
}

void Snapshot::fail_unknown_inputs(const std::vector<Spec>& inputs) const {
  std::vector<std::string> given;
  for (const std::vector<Spec>& one : options_.ahead) given.push_back(describe(one));
  fail<ValueError>("[Predictor]",
                   "an object of the class {} can't be copied by model.predictor(), so inputs must be compiled ahead: "
                   "{}; got {}: make a Predictor(model), which copies it, or give batch_sizes or examples",
                   kind_, given.empty() ? "none are" : fmt::format("{}", fmt::join(given, "; ")), describe(inputs));
}

std::shared_ptr<const Graph> Snapshot::graph_for(const std::vector<Spec>& inputs) {
  const ForkDelay whole;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found =
      std::find_if(known_.begin(), known_.end(), [&](const Known& known) { return known.inputs == inputs; });
  if (found != known_.end()) {
    found->used = ++uses_;
    return found->graph;
  }
  if (!copy_) fail_unknown_inputs(inputs);
  Known known{inputs, trace(*copy_, inputs), ++uses_};
  const auto first = known_.begin() + static_cast<std::ptrdiff_t>(options_.ahead.size());
  if (known_.size() - options_.ahead.size() >= options_.further) {
    known_.erase(std::min_element(first, known_.end(), [](const Known& a, const Known& b) { return a.used < b.used; }));
  }
  known_.push_back(std::move(known));
  return known_.back().graph;
}

double Snapshot::runtime_value(const RuntimeKey& key) const {
  switch (key.scalar) {
    case RuntimeScalar::step:
      return options_.step;
    case RuntimeScalar::epoch:
      return options_.epoch;
    case RuntimeScalar::seed:
      return next_seed();
    case RuntimeScalar::sample_share:
      return 1;
    default:
      return 0;  // index of a batch
  }
}

std::string describe(const std::vector<Spec>& specs) {
  std::string text;
  for (const Spec& spec : specs) text += (text.empty() ? "" : ", ") + to_string(spec);
  return text;
}

}  // namespace mezzo::detail
