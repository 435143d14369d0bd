#include <mezzo/training/detail/step_runner.hpp>

#include <algorithm>

#include <mezzo/core/output.hpp>
#include <mezzo/core/random.hpp>

namespace mezzo::detail {
namespace {

/// Whether some layer's policy is left to the Trainer.
bool reached(const LayerState& state) {
  if (!state.policy.inherits()) return false;
  return state.children.empty() ||
         std::any_of(state.children.begin(), state.children.end(),
                     [](const auto& child) { return reached(*child.second); });
}

void list_overrides(const LayerState& state, const std::string& path, std::string& text) {
  if (!state.policy.inherits()) {
    text += (text.empty() ? "" : ", ") + (path.empty() ? state.kind : path) + " (" + state.policy.name() + ")";
    return;
  }
  for (const auto& child : state.children) {
    list_overrides(*child.second, path + (path.empty() ? "" : "/") + child.first, text);
  }
}

bool same_inputs(const std::vector<Spec>& inputs, const HostBatch& batch) {
  if (inputs.size() != batch.fields.size()) return false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& tensor = batch.fields[i].tensor;
    if (inputs[i].dtype != tensor.dtype() || inputs[i].shape != tensor.shape()) return false;
  }
  return true;
}

}  // namespace

TrainingState& training_state(Module& module) {
  if (!module.run_state()) module.set_run_state(std::make_shared<TrainingState>());
  return static_cast<TrainingState&>(*module.run_state());
}

StepRunner::StepRunner(Module& module, RunOptions options)
    : module_(module), state_(training_state(module)), options_(std::move(options)) {
  if (state_.running) throw ValueError("[Trainer] the model is being run by another thread or step");
  if (!options_.policy.inherits() && !reached(*module.state())) {
    std::string overrides;
    list_overrides(*module.state(), "", overrides);
    throw ValueError("[Trainer] precision " + options_.policy.name() +
                     " reaches no layer: every one has a dtype of its own or its container's: " + overrides);
  }
  convert_weights(module, options_.policy);
  state_.running = true;
}

StepRunner::~StepRunner() { state_.running = false; }

void StepRunner::run(Phase phase, const HostBatch& batch) {
  skipped_ = false;
  if (options_.eager) {
    run_eagerly(phase, batch);
    return;
  }
  state_.last = compiled(phase, batch);
  CompiledStep& step = step_in_use();
  inputs_.resize(batch.fields.size());
  for (std::size_t i = 0; i < inputs_.size(); ++i) inputs_[i] = batch.fields[i].tensor;
  numbers_.resize(step.runtime.size());
  for (std::size_t i = 0; i < numbers_.size(); ++i) numbers_[i] = runtime_value(step.runtime[i]);
  if (phase == Phase::train) ++state_.step;
  step.plan->run(inputs_, numbers_);
  logged_ = &step.logged;
  state_.last_plan = step.plan;
  finish_step(step);
}

std::size_t StepRunner::compiled(Phase phase, const HostBatch& batch) {
  const Policy policy = options_.policy.inherits() ? dtype_policy() : options_.policy;
  const std::uint64_t layers = layers_signature(*module_.state());
  for (std::size_t i = 0; i < state_.steps.size(); ++i) {
    const CompiledStep::Signature& s = state_.steps[i]->signature;
    if (s.phase == phase && s.layers == layers && s.policy == policy.name() && same_inputs(s.inputs, batch)) {
      return i;
    }
  }
  CompiledStep::Signature signature{phase, policy.name(), layers, {}};
  for (const NamedTensor& field : batch.fields) {
    signature.inputs.push_back({field.tensor.shape(), field.tensor.dtype()});
  }
  warn_of_many_plans(signature);
  auto step = compile(std::move(signature), batch);
  step->signature.layers = layers_signature(*module_.state());  // the trace may have built layers
  state_.steps.push_back(std::move(step));
  return state_.steps.size() - 1;
}

void StepRunner::warn_of_many_plans(const CompiledStep::Signature& signature) const {
  std::string sizes;
  std::size_t alike = 0;
  for (const auto& step : state_.steps) {
    const auto& other = step->signature;
    if (other.phase != signature.phase || other.inputs.size() != signature.inputs.size()) continue;
    ++alike;
    for (std::size_t i = 0; i < signature.inputs.size() && sizes.empty(); ++i) {
      const Shape& a = signature.inputs[i].shape;
      const Shape& b = other.inputs[i].shape;
      for (std::size_t axis = 0; axis < std::min(a.size(), b.size()) && sizes.empty(); ++axis) {
        if (a[axis] == b[axis]) continue;
        sizes = "input " + std::to_string(i) + " axis " + std::to_string(axis) + " (" + std::to_string(b[axis]) +
                ", " + std::to_string(a[axis]) + ", ...)";
      }
    }
  }
  if (alike == 8) {
    warn("more than 8 plans for one kind of step: what changes is " + (sizes.empty() ? "its flags" : sizes) +
         "; pad or bucket the data");
  }
}

double StepRunner::value(std::size_t i) const {
  return options_.eager ? eager_values_[i].item() : step_in_use().plan->scalar(i);
}

Tensor StepRunner::output() const { return options_.eager ? eager_values_.front() : step_in_use().plan->output(0); }

double StepRunner::runtime_value(const CompiledStep::Runtime& runtime) const {
  using Kind = CompiledStep::Runtime::Kind;
  switch (runtime.kind) {
    case Kind::step: return static_cast<double>(state_.step);
    case Kind::epoch: return static_cast<double>(state_.epoch);
    case Kind::seed: return static_cast<double>(seed());
    default: break;
  }
  const Optimizer& optimizer = *state_.optimizers[runtime.optimizer].optimizer;
  if (runtime.kind == Kind::learning_rate) return optimizer.learning_rate();
  if (runtime.kind == Kind::count) return static_cast<double>(optimizer.iterations() + 1);
  return optimizer.state()->loss_scale.scale();
}

void StepRunner::finish_step(const CompiledStep& step) {
  for (const std::size_t i : step.updated) {
    count_update(i, step.scaled[i], step.plan->committed(static_cast<int>(i)));
  }
}

void StepRunner::count_update(std::size_t optimizer, bool scaled, bool committed) {
  Optimizer::State& state = *state_.optimizers[optimizer].optimizer->state();
  if (committed) ++state.iterations;
  skipped_ |= !committed;
  if (scaled && !state.loss_scale.update(committed)) {
    throw ValueError("[Trainer] gradients overflow float16 even at the smallest loss scale, " +
                     std::to_string(state.loss_scale.scale()));
  }
}

}  // namespace mezzo::detail
