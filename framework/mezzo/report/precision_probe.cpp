#include <mezzo/report/precision_probe.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include <mezzo/compiler/overflow.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/graph/op_registry.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/ops/gradients.hpp>
#include <mezzo/report/errors.hpp>

namespace mezzo::detail {
namespace {

/// The value before the casts that its reader's layer inserted.
Value before_cast(Value value) {
  while (is(value, cast_op()) && value.node()->inputs.front().node()->path != value.node()->path) {
    value = value.node()->inputs.front();
  }
  return value;
}

/// Floating values that leave layers, by path, in the order of computation. The path "" has values computed outside of
/// the model's layers that layers read, and predictions.
class Leaving {
 public:
  Leaving(const Graph& graph, const ProbedStep& step) {
    for (const NodePtr& node : graph.nodes) {
      for (const Value& input : node->inputs) {
        const Value value = before_cast(input);
        if (value.node()->path != node->path) add(value, node->path.empty());
      }
    }
    for (const Value& value : step.predictions) add(value, false);
    if (!step.loss.node()->path.empty()) add(step.loss, false);
    for (const NodePtr& node : graph.nodes) {
      for (std::size_t i = 0; i < node->outputs.size(); ++i) {
        const Value value(node, static_cast<int>(i));
        if (found_.count(key_of(value)) != 0) enter(value);
        if (handed_.count(key_of(value)) != 0) handed.push_back(value);
      }
    }
  }

  std::vector<std::pair<std::string, Values>> by_path;
  Values handed;  // values of layers that are read by the model's own step

 private:
  using Key = std::pair<const Node*, int>;
  static Key key_of(const Value& value) { return {value.node().get(), value.output()}; }

  void add(const Value& value, bool to_model) {
    if (value.node()->op->infer == nullptr || !is_floating(value.dtype())) return;
    found_.insert(key_of(value));
    if (to_model) handed_.insert(key_of(value));
  }

  void enter(const Value& value) {
    const std::string& path = value.node()->path;
    auto at = std::find_if(by_path.begin(), by_path.end(), [&](const auto& entry) { return entry.first == path; });
    if (at == by_path.end()) at = by_path.insert(at, {path, {}});
    at->second.push_back(value);
  }

  std::set<Key> found_, handed_;
};

void add_policies(const Shared<LayerState>& state, std::vector<std::pair<Shared<LayerState>, Policy>>& out) {
  out.emplace_back(state, state->policy);
  for (const auto& child : state->children) add_policies(child.second, out);
}

void add_places(const LayerState& state, const std::string& path, std::map<std::string, PrecisionProbe::Place>& out) {
  out[path] = {state.kind, state.last_policy};
  for (const auto& child : state.children) {
    add_places(*child.second, path + (path.empty() ? "" : "/") + child.first, out);
  }
}

bool finite(const std::vector<Tensor>& tensors) {
  return std::all_of(tensors.begin(), tensors.end(), [](const Tensor& t) {
    return all_finite(t.raw(), {t.shape(), t.dtype()});
  });
}

Tensor numbers_of(const Value& value) { return value.defined() ? value.tensor() : Tensor(); }

/// Collects the values of an open trace, to which it appends the backward pass.
StepRun read_step(const Module& model, const ProbedStep& step, double loss_scale) {
  Trace& trace = *Trace::current();
  StepRun run;
  run.loss = step.loss.item();
  run.loss_scale = computes_in_float16(trace.graph()) ? loss_scale : 1;
  const Leaving leaving(trace.graph(), step);
  Values sources;
  for (const auto& entry : leaving.by_path) {
    run.layers.push_back({.path = entry.first});
    for (const Value& value : entry.second) {
      run.layers.back().outputs.push_back(value.tensor());
      sources.push_back(value);
    }
  }
  for (const Value& value : step.predictions.empty() ? leaving.handed : step.predictions) {
    run.predictions.push_back(value.tensor());
  }
  if (run.predictions.empty()) run.predictions.push_back(step.loss.tensor());

  std::vector<std::string> owners;
  for (const WeightPolicy& weight : weight_policies(model, {})) {
    if (!weight.trainable) continue;
    const std::size_t end = weight.path.size() - weight.variable.name().size();
    for (const NodePtr& node : trace.graph().nodes) {
      if (node->variable != weight.variable.state().pointer()) continue;
      sources.emplace_back(node, 0);
      owners.push_back(end == 0 ? "" : weight.path.substr(0, end - 1));
    }
  }
  const Values gradients = partial_gradients(step.loss, sources, run.loss_scale);
  auto at = gradients.begin();
  for (LayerRun& layer : run.layers) {
    for (std::size_t i = 0; i < layer.outputs.size(); ++i) layer.cotangents.push_back(numbers_of(*at++));
  }
  for (const std::string& owner : owners) {
    run.gradients.push_back(numbers_of(*at++));
    for (LayerRun& layer : run.layers) {
      if (layer.path == owner) layer.gradients.push_back(run.gradients.back());
    }
  }
  return run;
}

}  // namespace

double ModelErrors::worst() const { return is_worse(output, gradient) ? output : gradient; }

const LayerRun* StepRun::find(const std::string& path) const {
  const auto at = std::find_if(layers.begin(), layers.end(), [&](const LayerRun& run) { return run.path == path; });
  return at == layers.end() ? nullptr : &*at;
}

PrecisionProbe::PrecisionProbe(Module& copy, const HostBatch& batch, double loss_scale, std::string where)
    : model_(copy), batch_(batch), loss_scale_(loss_scale), alone_scale_(loss_scale), where_(std::move(where)) {
  for (const Variable& weight : model_.weights()) weights_.emplace_back(weight.state(), weight.value());
  if (weights_.empty()) {
    fail<ValueError>(where_, "the model must be built, by build() or a call; got one without weights");
  }
  add_policies(model_.state(), policies_);
  reset(false);
  float32_ = step("float32", 1);
  if (model_.weights().size() != weights_.size()) {
    fail<ValueError>(where_, "all layers must be built, by build() or a call; got weights for {} of {} variables",
                     weights_.size(), model_.weights().size());
  }
}

void PrecisionProbe::reset(bool own_policies) {
  for (const auto& [state, numbers] : weights_) {
    state->join();  // timed steps may have split it
    state->convert(numbers.dtype());
    state->assign(numbers);
  }
  for (const auto& [state, policy] : policies_) state->policy = own_policies ? policy : Policy();
}

StepRun PrecisionProbe::step(const Policy& policy, double loss_scale) {
  StepRun out;
  probe_step(model_, batch_, policy, [&](const ProbedStep& probed) {
    model_policy_ = current_policy();
    out = read_step(model_, probed, loss_scale);
  });
  return out;
}

StepRun PrecisionProbe::settled(const Policy& policy, bool own_policies, double loss_scale) {
  constexpr double least = LossScaleOptions().floor;
  const bool finite_in_float32 = finite(float32_.gradients);  // otherwise no scale prevents the overflow
  while (true) {
    reset(own_policies);
    StepRun out = step(policy, loss_scale);
    const bool scaling_helps =
        finite_in_float32 && out.loss_scale != 1 && std::isfinite(out.loss) && !finite(out.gradients);
    if (!scaling_helps || loss_scale / 2 < least) return out;
    loss_scale /= 2;
  }
}

StepRun PrecisionProbe::run(const Policy& policy) { return settled(policy, true, loss_scale_); }

StepRun PrecisionProbe::run_alone(const std::string& path, const Policy& policy) {
  PolicyMapOptions map{.default_policy = "float32"};
  if (!path.empty()) {
    map.policies.emplace_back(path, policy);
  } else {
    map.default_policy = policy;
    for (const auto& place : places()) {
      if (!place.first.empty()) map.policies.emplace_back(place.first, "float32");
    }
  }
  StepRun out = settled(PolicyMap(map), false, alone_scale_);
  if (out.loss_scale != 1 && finite(out.gradients)) alone_scale_ = out.loss_scale;  // first scale of the next call
  return out;
}

ModelErrors PrecisionProbe::errors(const StepRun& run) const {
  const std::string what = where_ + " the model";
  return {.output = relative_error(run.predictions, 1, float32_.predictions, what),
          .gradient = relative_error(run.gradients, run.loss_scale, float32_.gradients, what)};
}

std::map<std::string, PrecisionProbe::Place> PrecisionProbe::places() const {
  std::map<std::string, Place> out;
  add_places(*model_.state(), "", out);
  out[""].policy = model_policy_;  // the user's step may not call the model, so last_policy may be unset
  return out;
}

std::vector<StepTimes> PrecisionProbe::time(const std::vector<Policy>& policies, int steps) {
  std::vector<StepToTime> all{{.policy = "float32", .layers_inherit = true}};
  for (const Policy& policy : policies) all.push_back({.policy = policy});
  return time_steps(model_, batch_, all, steps, [&] { reset(true); });
}

bool is_float32(const Policy& policy) {
  return policy.by_op() == nullptr && policy.products() == ProductFormat::same &&
         policy.compute_dtype() == DType::float32 && policy.variable_dtype() == DType::float32 &&
         policy.output_dtype() == DType::float32;
}

}  // namespace mezzo::detail
