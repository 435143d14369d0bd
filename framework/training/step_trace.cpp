#include <algorithm>

#include <mezzo/core/random.hpp>
#include <mezzo/training/detail/step_runner.hpp>

namespace mezzo::detail {
namespace {

Batch symbols(Trace& trace, const HostBatch& batch) {
  std::vector<Batch::Entry> entries;
  for (const NamedTensor& field : batch.fields) {
    const Value value = trace.mode() == Trace::Mode::eager
                            ? trace.input(field.name, field.tensor)
                            : trace.input(field.name, Spec{field.tensor.shape(), field.tensor.dtype()});
    entries.push_back({field.name, value, field.role});
  }
  return {std::move(entries), batch.size};
}

CompiledStep::Runtime runtime_of(const std::string& name) {
  using Kind = CompiledStep::Runtime::Kind;
  const std::size_t colon = name.find(':');
  const std::string kind = name.substr(0, colon);
  CompiledStep::Runtime out;
  if (colon != std::string::npos) out.optimizer = std::stoul(name.substr(colon + 1));
  constexpr std::pair<const char*, Kind> kinds[] = {{"step", Kind::step},
                                                    {"epoch", Kind::epoch},
                                                    {"seed", Kind::seed},
                                                    {"learning_rate", Kind::learning_rate},
                                                    {"count", Kind::count},
                                                    {"loss_scale", Kind::loss_scale}};
  for (const auto& entry : kinds) {
    if (kind == entry.first) out.kind = entry.second;
  }
  return out;
}

/// Optimizers that a graph steps, and which of them by scaled gradients.
void note_groups(const Graph& graph, std::size_t optimizers, std::vector<std::size_t>& updated,
                 std::vector<bool>& scaled) {
  scaled.assign(optimizers, false);
  for (const auto& update : graph.updates) {
    if (update.group < 0) continue;
    const auto group = static_cast<std::size_t>(update.group);
    if (std::find(updated.begin(), updated.end(), group) == updated.end()) updated.push_back(group);
  }
  for (const auto& gate : graph.gates) {
    if (gate.group >= 0 && gate.error.empty()) scaled[static_cast<std::size_t>(gate.group)] = true;
  }
}

bool open(const Graph& graph, int group) {
  return std::all_of(graph.gates.begin(), graph.gates.end(), [&](const Graph::Gate& gate) {
    return (group >= 0 && gate.group != group) || gate.ok.item() != 0;
  });
}

}  // namespace

std::vector<Logged> StepRunner::trace_step(Phase phase, const Batch& batch) {
  const PolicyScope policy(options_.policy);
  const RootScope root(module_);
  StepContext context(module_, state_.optimizers, false);
  Trace& trace = *Trace::current();
  std::vector<Logged> logged;
  switch (phase) {
    case Phase::train: {
      const Value loss = module_.training_step(batch);
      if (!context.minimized()) {
        if (state_.optimizers.size() != 1) {
          throw ValueError("[Trainer] with " + std::to_string(state_.optimizers.size()) +
                           " optimizers, training_step must call minimize(loss, optimizer(name)) itself");
        }
        context.minimize(loss, OptimizerHandle(0));
      }
      logged = context.logged();
      logged.push_back({"loss", true});
      trace.output("loss", mean_of(loss));
      break;
    }
    case Phase::predict: {
      const Value y = module_.predict_step(batch);
      const DType dtype = is_floating(y.dtype()) ? accumulation_dtype(y.dtype()) : y.dtype();
      trace.output("output", cast(y, dtype));
      logged = {{"output", false}};
      break;
    }
    case Phase::validate: module_.validation_step(batch); break;
    case Phase::test: module_.test_step(batch); break;
  }
  if (logged.empty()) logged = context.logged();
  return logged;
}

void StepRunner::configure(const HostBatch& batch, bool anew) {
  if (state_.configured && !anew) return;
  {
    Trace trace(Trace::Mode::graph, true);
    const PolicyScope policy(options_.policy);
    const RootScope root(module_);
    const StepContext dry(module_, {}, true);
    module_.training_step(symbols(trace, batch));
  }
  convert_weights(module_, options_.policy);
  OptimizerConfigs configs = module_.configure_optimizers();
  if (configs.empty()) throw ValueError("[Trainer] configure_optimizers gave none: override it, or compile() the model");
  for (std::size_t i = 0; i < configs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (configs[i].name == configs[j].name) {
        throw NameError("[Trainer] two optimizers are named \"" + configs[i].name + "\"");
      }
    }
    if (anew) *configs[i].optimizer->state() = Optimizer::State();
  }
  state_.optimizers = std::move(configs);
  state_.steps.clear();
  state_.configured = true;
  if (anew) state_.step = state_.epoch = 0;
}

std::unique_ptr<CompiledStep> StepRunner::compile(CompiledStep::Signature signature, const HostBatch& batch) {
  auto step = std::make_unique<CompiledStep>();
  Trace trace(Trace::Mode::graph, signature.phase == Phase::train);
  step->logged = trace_step(signature.phase, symbols(trace, batch));
  note_groups(trace.graph(), state_.optimizers.size(), step->updated, step->scaled);
  step->plan = std::make_shared<Plan>(run_passes(std::move(trace.graph()), options_.passes), state_.arena);
  for (const std::string& name : step->plan->runtime_names()) step->runtime.push_back(runtime_of(name));
  step->signature = std::move(signature);
  return step;
}

void StepRunner::run_eagerly(Phase phase, const HostBatch& batch) {
  Trace trace(Trace::Mode::eager, phase == Phase::train);
  for (const char* name : {"step", "epoch", "seed"}) trace.runtime_values[name] = runtime_value(runtime_of(name));
  for (std::size_t i = 0; i < state_.optimizers.size(); ++i) {
    for (const char* kind : {"learning_rate", "count", "loss_scale"}) {
      const std::string name = kind + (":" + std::to_string(i));
      trace.runtime_values[name] = runtime_value(runtime_of(name));
    }
  }
  if (phase == Phase::train) ++state_.step;
  eager_logged_ = trace_step(phase, symbols(trace, batch));
  logged_ = &eager_logged_;
  const Graph& graph = trace.graph();
  for (const auto& gate : graph.gates) {
    if (!gate.error.empty() && gate.ok.item() == 0) throw ValueError(gate.error);
  }
  eager_values_.clear();
  for (const auto& output : graph.outputs) eager_values_.push_back(output.value.tensor());
  for (const auto& update : graph.updates) {
    if (open(graph, update.group)) update.variable->assign(update.value.tensor());
  }
  std::vector<std::size_t> updated;
  std::vector<bool> scaled;
  note_groups(graph, state_.optimizers.size(), updated, scaled);
  for (const std::size_t i : updated) count_update(i, scaled[i], open(graph, static_cast<int>(i)));
}

}  // namespace mezzo::detail
