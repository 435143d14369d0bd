#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/graph/quiet_casts.hpp>
#include <mezzo/nn/waiting_weights.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/training/ranks/gradient_reduction.hpp>
#include <mezzo/training/ranks/rank_means.hpp>
#include <mezzo/training/step/layer_policies.hpp>
#include <mezzo/training/step/loss_scaling.hpp>
#include <mezzo/training/step/non_finite_outputs.hpp>
#include <mezzo/training/step/optimizer_owner.hpp>
#include <mezzo/training/step/scheduler_steps.hpp>
#include <mezzo/training/step/slow_policy.hpp>

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

/// The optimizers that a graph applies: index, and true if the gradients are scaled. `calls` are those of minimize(),
/// by optimizer.
std::vector<AppliedOptimizer> applied_in(const Graph& graph, const std::vector<std::size_t>& calls) {
  const UpdateGroups groups(calls.size());
  std::vector<AppliedOptimizer> out;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (calls[i] == 0) continue;
    const bool scaled = std::any_of(graph.gates.begin(), graph.gates.end(), [&](const Graph::Gate& gate) {
      return gate.group >= 0 && groups.optimizer(gate.group) == i && gate.on_failure == Graph::OnFailure::skip_update;
    });
    out.push_back({.optimizer = i, .calls = calls[i], .scaled = scaled});
  }
  return out;
}

/// Logged values that are outputs, not metrics.
std::size_t count_outputs(const std::vector<Logged>& logged) {
  return static_cast<std::size_t>(
      std::count_if(logged.begin(), logged.end(), [](const Logged& entry) { return !entry.metric; }));
}

/// Throws a ValueError if the Trainer and the optimizer set the same thing.
void check_against_trainer(const OptimizerConfig& config, const RunOptions& options) {
  const OptimizerCommon& own = config.optimizer->common();
  if (options.accumulate > 1 && own.gradient_accumulation_steps > 0) {
    fail<ValueError>("[Trainer]",
                     "accumulate_grad_batches must be 1 with an optimizer that has gradient_accumulation_steps; got {} "
                     "and {}",
                     options.accumulate, own.gradient_accumulation_steps);
  }
  if (options.clip && (own.clipnorm > 0 || own.clipvalue > 0 || own.global_clipnorm > 0)) {
    fail<ValueError>("[Trainer]",
                     "gradient_clip_val must not be given with an optimizer that clips; got {} and an optimizer \"{}\" "
                     "with clipnorm {}, clipvalue {}, global_clipnorm {}",
                     options.clip->bound, config.name, own.clipnorm, own.clipvalue, own.global_clipnorm);
  }
}

/// Adds gates that check the outputs.
void check_outputs(Trace& trace) {
  const LibraryScope as_inserted;
  for (const auto& output : trace.graph().outputs) {
    if (!is_floating(output.value.dtype())) continue;
    trace.gate(
        {.ok = insert_one(ops::all_finite, {output.value}),
         .group = 0,
         .on_failure = Graph::OnFailure::error,
         .error = fmt::format("[Trainer] detect_anomaly: \"{}\" must be finite; got NaN or infinity", output.name)});
  }
}

bool open(const Graph& graph, int group) {
  return std::all_of(graph.gates.begin(), graph.gates.end(), [&](const Graph::Gate& gate) {
    return (group >= 0 && gate.group != group) || gate.ok.item() != 0;
  });
}

}  // namespace

void add_weights(OptimizerConfigs& configs, const ParamGroup& group) {
  std::vector<std::string> names;
  for (OptimizerConfig& config : configs) {
    names.push_back(config.name);
    if (config.name != group.optimizer && !(group.optimizer.empty() && configs.size() == 1)) continue;
    for (const Variable& weight : group.weights) {
      if (!trains(config, weight)) config.weights.push_back(weight);
    }
    return;
  }
  fail_unknown("[Trainer]", "optimizer of a group", group.optimizer, names);
}

Value StepRunner::user_step(Phase phase, const Batch& batch) {
  switch (phase) {
    case Phase::train:
      return module_.training_step(batch);
    case Phase::predict:
      return module_.predict_step(batch);
    case Phase::validate:
      module_.validation_step(batch);
      break;
    case Phase::test:
      module_.test_step(batch);
      break;
  }
  return {};
}

std::vector<Logged> StepRunner::trace_step(Phase phase, const Batch& batch, bool& again) {
  again = false;
  const StepScope scope(*this);
  StepContext context(module_, state_.optimizers, StepContext::Purpose::train, options_.clip, &state_.param_groups,
                      guards_);
  context.set_dataloader_idx(dataloader_);
  if (part_) {
    context.set_ranks({.communicator = options_.communicator,
                       .shards = state_.rank_states ? state_.rank_states->shards() : nullptr,
                       .feedback = state_.rank_states ? state_.rank_states->feedback() : nullptr});
  }
  metrics_.updated.clear();
  const ScopedValue<MetricListener*> listening(MetricListener::current(), &metrics_);
  const Value result = user_step(phase, batch);
  reads_dataloader_ = context.reads_dataloader_idx();
  if (phase == Phase::predict) {
    for (const Value& output : context.outputs(result)) {
      const DType dtype = is_floating(output.dtype()) ? accumulation_dtype(output.dtype()) : output.dtype();
      Trace::current()->output("output", cast(output, dtype));
    }
    if (options_.detect_anomaly) check_outputs(*Trace::current());
    return context.logged();
  }
  if (phase == Phase::train) {
    context.finish(result, batch.size());
    guards_ |= again = context.wants_guards();
    calls_.clear();
    sharded_ = context.sharded();
    for (std::size_t i = 0; i < state_.optimizers.size(); ++i) {
      calls_.push_back(context.calls(i));
      const auto& updated = context.updated()[i];  // empty: the step doesn't apply this optimizer
      if (!updated.empty() && !options_.silent) state_.optimizers[i].optimizer->require_effect(updated);
    }
    if (!context.has("loss")) context.log("loss", result, {.prog_bar = true});
  }
  if (options_.detect_anomaly) check_outputs(*Trace::current());
  std::vector<Logged> logged = context.logged();
  add_batch_states(logged);
  return logged;
}

Graph StepRunner::rehearse(Phase phase, const HostBatch& batch) {
  Trace trace(Trace::Mode::graph, phase == Phase::train);
  const StepScope scope(*this);
  const QuietCasts quiet;
  StepContext context(module_, state_.optimizers, StepContext::Purpose::build);
  context.set_dataloader_idx(dataloader_);
  const Value result = user_step(phase, symbols(trace, batch));
  running_.add_weights();
  if (const auto weights = take_waiting_weights(*module_.state())) weights->load(module_);
  if (result.defined()) trace.output("", result);
  return std::move(trace.graph());
}

/// Gives an eager trace its runtime scalars.
void StepRunner::set_runtime_values(Trace& trace) const {
  trace.runtime_value = [this](const RuntimeKey& key) { return runtime_value(key); };
}

void StepRunner::probe(const HostBatch& batch, const std::function<void(const ProbedStep&)>& read) {
  if (!converted_) convert(Phase::train, batch);
  Trace trace(Trace::Mode::eager, true);
  set_runtime_values(trace);
  const StepScope scope(*this);
  const StepContext context(module_, state_.optimizers, StepContext::Purpose::build);
  const Value result = user_step(Phase::train, symbols(trace, batch));
  const LibraryScope as_inserted;
  Value loss = context.losses().empty() ? mean_of(result) : Value();
  for (const Value& one : context.losses()) loss = loss.defined() ? loss + mean_of(one) : mean_of(one);
  read({trace.adopt(loss), context.predictions()});
}

std::vector<std::vector<std::shared_ptr<VariableState>>> StepRunner::updated_by(const OptimizerConfigs& optimizers,
                                                                                const HostBatch& batch) {
  Trace trace(Trace::Mode::graph, true);
  const StepScope scope(*this);
  StepContext context(module_, optimizers, StepContext::Purpose::survey);
  context.finish(user_step(Phase::train, symbols(trace, batch)), batch.size);
  return context.updated();
}

OptimizerConfigs StepRunner::make_optimizers() const {
  OptimizerConfigs configs = module_.configure_optimizers();
  if (configs.empty()) {
    fail<ValueError>("[Trainer]",
                     "configure_optimizers must return an optimizer; got none: override it, or compile() "
                     "the model");
  }
  for (std::size_t i = 0; i < configs.size(); ++i) {
    const std::string& name = configs[i].name;
    if (!configs[i].optimizer) {
      fail<ValueError>("[Trainer]", "configure_optimizers must set every optimizer; got an empty one named \"{}\"",
                       name);
    }
    if (configs[i].loss_scale) {
      check_loss_scale(*configs[i].loss_scale, fmt::format("[Trainer] optimizer \"{}\": loss_scale.", name));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (name == configs[j].name) {
        fail<NameError>("[Trainer]", "names of optimizers must differ; got \"{}\" twice", name);
      }
    }
    check_against_trainer(configs[i], options_);
    check_scheduler(configs[i]);
  }
  for (const ParamGroup& group : state_.param_groups) add_weights(configs, group);
  set_windows(configs);
  return configs;
}

void StepRunner::configure(bool anew) {
  if (!state_.configured || anew) use(make_optimizers(), anew);
}

void StepRunner::use(OptimizerConfigs configs, bool anew) {
  for (const OptimizerConfig& config : configs) {
    if (anew) config.optimizer->reset();
    own_optimizer(*config.optimizer, module_.state().pointer(), anew);
    if (anew && config.lr_scheduler) config.optimizer->state()->learning_rate.reset();  // of the training before
    const auto& scale = options_.loss_scale ? options_.loss_scale : config.loss_scale;
    if (scale) config.optimizer->state()->loss_scale = LossScale(*scale);
  }
  set_windows(configs);  // a checkpoint restores the accumulated gradients of a window
  if (anew) static_cast<Progress&>(state_) = {};
  state_.optimizers = std::move(configs);
  state_.schedulers.assign(state_.optimizers.size(), {});
  state_.steps.clear();
  state_.compiled = {};
  state_.configured = true;
}

CompiledStep* StepRunner::compile(Phase phase, const HostBatch& batch) {
  warn_of_many_plans(phase, batch);
  auto step = std::make_unique<CompiledStep>();
  std::optional<Trace> traced;
  for (bool again = true; again;) {
    traced.emplace(Trace::Mode::graph, phase == Phase::train);
    if (part_) {
      traced->set_samples_of_rank(batch.size);
      traced->runtime({RuntimeScalar::sample_share});  // before the reductions that read it
      traced->set_joined_batch(
          {.mean = [ranks = options_.communicator](const Value& x) { return mean_over_ranks(ranks, x); },
           .for_all_norms = options_.sync_batchnorm});
    }
    step->logged = trace_step(phase, symbols(*traced, batch), again);
  }
  Trace& trace = *traced;
  if (part_) place_reductions(trace.graph());
  step->logged_outputs = count_outputs(step->logged);
  step->float16 = computes_in_float16(trace.graph());
  if (!options_.silent) tell_of_emulation(state_, trace.graph());
  step->metrics = metrics_.updated;
  if (part_) {
    step->ranked = RankVariables::of(trace.graph(), module_, step->metrics);
    step->buckets = buckets_in(trace.graph());
  }
  if (phase == Phase::train) step->sharded = sharded_;
  if (phase == Phase::train) step->applied = applied_in(trace.graph(), calls_);
  if (options_.silent) {
    // After applied_in(), which takes gates that skip updates for those of loss scaling.
    for (auto& gate : trace.graph().gates) gate.on_failure = Graph::OnFailure::skip_update;
  }
  if (options_.detect_anomaly) {
    for (auto& gate : trace.graph().gates) gate.on_failure = Graph::OnFailure::error;
  }
  running_.add_weights();
  make_room();
  Graph graph = run_passes(std::move(trace.graph()), options_.passes);
  if (state_.rank_states) state_.rank_states->require_readable(graph);
  step->plan = std::make_shared<Plan>(std::move(graph), state_.arena);
  if (memory_limit > 0 && step->plan->arena_bytes() > memory_limit) {
    fail<MemoryError>("[Trainer]", "the plan of a step must need at most {} bytes; got {}", memory_limit,
                      step->plan->arena_bytes());
  }
  // After the trace: it may have built layers.
  step->signature = {.phase = phase,
                     .threads = thread_count(),
                     .policy = base_policy().name(),
                     .regions = regions_key_,
                     .layers = layers_signature(*module_.state()),
                     .inputs = step->plan->inputs(),
                     .fields = fields_signature(batch),
                     .float32_winograd = options_.float32_winograd,
                     .options = options_signature(),
                     .windows = windows_signature(phase),
                     .dataloader = reads_dataloader_ ? std::optional(dataloader_) : std::nullopt};
  state_.steps.push_back(std::move(step));
  return state_.steps.back().get();
}

void StepRunner::run_eagerly(Phase phase, const HostBatch& batch) {
  std::optional<Trace> traced;
  for (bool again = true; again;) {
    traced.emplace(Trace::Mode::eager, phase == Phase::train);
    set_runtime_values(*traced);
    eager_logged_ = trace_step(phase, symbols(*traced, batch), again);
  }
  Trace& trace = *traced;
  eager_logged_outputs_ = count_outputs(eager_logged_);
  running_.add_weights();
  logged_ = &eager_logged_;
  const Graph& graph = trace.graph();
  for (const auto& gate : graph.gates) {
    const bool fatal = options_.detect_anomaly || gate.on_failure == Graph::OnFailure::error;
    if (!options_.silent && fatal && gate.ok.item() == 0) {
      throw NonFiniteError(error_of(gate, overflow_of(graph, gate.group)));
    }
  }
  eager_values_.clear();
  for (const auto& output : graph.outputs) eager_values_.push_back(output.value.tensor());
  if (!options_.silent) tell_of_emulation(state_, graph);
  if (counts_updates(phase)) mezzo::count_updates(graph, update_count);
  if (!options_.silent && awaits_non_finite_output(state_, phase)) tell_of_non_finite_output(state_, phase, graph);
  for (const auto& update : graph.updates) {
    if (open(graph, update.group)) update.variable->store(update.value.tensor());
  }
  if (phase != Phase::train) return;
  const std::vector<AppliedOptimizer> applied = applied_in(graph, calls_);
  const bool seeks = seeks_overflow(applied);
  for (const AppliedOptimizer& one : applied) {
    count_updates(
        one, [&](int group) { return open(graph, group); },
        [&](int group) { return seeks ? overflow_of(graph, group) : std::optional<Overflow>(); });
  }
}

}  // namespace mezzo::detail

namespace mezzo {

void probe_step(Module& module, const HostBatch& batch, const Policy& policy,
                const std::function<void(const ProbedStep&)>& read) {
  detail::StepRunner(module, {.policy = policy, .eager = true, .silent = true}).probe(batch, read);
}

}  // namespace mezzo
