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
#include <mezzo/training/step/batch_metrics.hpp>
#include <mezzo/training/step/eager_overflow.hpp>
#include <mezzo/training/step/emulation.hpp>
#include <mezzo/training/step/layer_policies.hpp>
#include <mezzo/training/step/mean_of.hpp>
#include <mezzo/training/step/non_finite_outputs.hpp>
#include <mezzo/training/step/step_context.hpp>
#include <mezzo/training/step/step_runner.hpp>

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

UpdateResult result_in(const Graph& graph, int group) {
  bool left_out = false;
  for (const Graph::Gate& gate : graph.gates) {
    const bool condition = gate.on_failure == Graph::OnFailure::leave_out;
    if (gate.group != group && (group >= 0 || condition)) continue;
    if (gate.ok.item() != 0) continue;
    if (!condition) return UpdateResult::skipped;
    left_out = true;
  }
  return left_out ? UpdateResult::left_out : UpdateResult::committed;
}

/// Changes the reaction to failures. Conditions stay what they are.
void react(Graph& graph, Graph::OnFailure reaction) {
  for (Graph::Gate& gate : graph.gates) {
    if (gate.on_failure != Graph::OnFailure::leave_out) gate.on_failure = reaction;
  }
}

}  // namespace

Value StepRunner::user_step(Stage stage, const Batch& batch) {
  switch (stage) {
    case Stage::fit:
      return module_.training_step(batch);
    case Stage::predict:
      return module_.predict_step(batch);
    case Stage::validate:
      module_.validation_step(batch);
      break;
    case Stage::test:
      module_.test_step(batch);
      break;
  }
  return {};
}

std::vector<Logged> StepRunner::trace_step(Stage stage, const Batch& batch, bool& again) {
  again = false;
  const StepScope scope(*this);
  UpdateOptions updates{.clip = options_.clip, .groups = &state_.param_groups, .guards = guards_};
  if (batch_.part) {
    updates.ranks = {.communicator = options_.group.communicator(),
                     .shards = state_.shared_states ? state_.shared_states->shards() : nullptr,
                     .feedback = state_.shared_states ? state_.shared_states->feedback() : nullptr};
  }
  StepContext context(module_, state_.optimizers, StepContext::Purpose::train, std::move(updates));
  context.set_dataloader_idx(dataloader_);
  metrics_.updated.clear();
  const ScopedValue<MetricListener*> listening(MetricListener::current(), &metrics_);
  const Value result = user_step(stage, batch);
  reads_dataloader_ = context.reads_dataloader_idx();
  if (stage == Stage::predict) {
    for (const Value& output : context.outputs(result)) {
      const DType dtype = is_floating(output.dtype()) ? accumulation_dtype(output.dtype()) : output.dtype();
      Trace::current()->output("output", cast(output, dtype));
    }
    if (options_.detect_anomaly) check_outputs(*Trace::current());
    return context.logged();
  }
  if (stage == Stage::fit) {
    context.finish(result, batch.size());
    guards_ |= again = context.wants_guards();
    const StepUpdates& made = context.updates();
    calls_.clear();
    sharded_ = made.sharded;
    for (std::size_t i = 0; i < state_.optimizers.size(); ++i) {
      calls_.push_back(made.accepted[i].size());
      const auto& updated = made.updated[i];  // empty: the step doesn't apply this optimizer
      if (!updated.empty() && !options_.silent) state_.optimizers[i].optimizer->require_effect(updated);
    }
    if (!context.has("loss") && result.defined()) context.log("loss", result, {.prog_bar = true});
  }
  if (options_.detect_anomaly) check_outputs(*Trace::current());
  std::vector<Logged> logged = context.logged();
  add_batch_states(*Trace::current(), logged, batch_.part.has_value());
  return logged;
}

Graph StepRunner::rehearse(Stage stage, const HostBatch& batch) {
  Trace trace(Trace::Mode::graph, stage == Stage::fit);
  const StepScope scope(*this);
  const QuietCasts quiet;
  StepContext context(module_, state_.optimizers, StepContext::Purpose::build);
  context.set_dataloader_idx(dataloader_);
  const Value result = user_step(stage, symbols(trace, batch));
  running_.add_weights();
  if (const auto weights = take_waiting_weights(*module_.state())) weights->load(module_);
  if (result.defined()) trace.output("", result);
  return std::move(trace.graph());
}

/// Gives an eager trace its runtime scalars.
void StepRunner::set_runtime_values(Trace& trace) const {
  trace.runtime_value = [this](const RuntimeKey& key) {
    return runtime_value(state_.optimizers, state_.param_groups, state_, batch_, key);
  };
}

void StepRunner::probe(const HostBatch& batch, const std::function<void(const ProbedStep&)>& read) {
  if (!converted_) convert(Stage::fit, batch);
  Trace trace(Trace::Mode::eager, true);
  set_runtime_values(trace);
  const StepScope scope(*this);
  const StepContext context(module_, state_.optimizers, StepContext::Purpose::build);
  const Value result = user_step(Stage::fit, symbols(trace, batch));
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
  context.finish(user_step(Stage::fit, symbols(trace, batch)), batch.size);
  return context.updates().updated;
}

CompiledStep* StepRunner::compile(Stage stage, const HostBatch& batch) {
  state_.plans.count(stage, batch);
  auto step = std::make_unique<CompiledStep>();
  std::optional<Trace> traced;
  for (bool again = true; again;) {
    traced.emplace(Trace::Mode::graph, stage == Stage::fit);
    if (batch_.part) {
      traced->set_samples_of_rank(batch.size);
      traced->runtime({RuntimeScalar::sample_share});  // before the reductions that read it
      traced->set_joined_batch(
          {.mean = [ranks = options_.group.communicator()](const Value& x) { return mean_over_ranks(ranks, x); },
           .for_all_norms = options_.sync_batchnorm});
    }
    step->logged = trace_step(stage, symbols(*traced, batch), again);
  }
  Trace& trace = *traced;
  if (batch_.part) place_reductions(trace.graph());
  step->logged_outputs = count_outputs(step->logged);
  step->float16 = computes_in_float16(trace.graph());
  if (!options_.silent) {
    report_emulation(state_.notices, trace.graph());
    report_int8_emulation(state_.notices, trace.graph());
    warn_without_int8(state_.notices, trace.graph(), options_);
  }
  step->metrics = metrics_.updated;
  if (batch_.part) {
    step->ranked = RankVariables::of(trace.graph(), module_, step->metrics);
    step->buckets = buckets_in(trace.graph());
  }
  if (stage == Stage::fit) step->sharded = sharded_;
  if (stage == Stage::fit) step->applied = applied_in(trace.graph(), calls_);
  if (options_.silent) {
    // After applied_in(), which takes gates that skip updates for those of loss scaling.
    react(trace.graph(), Graph::OnFailure::skip_update);
  }
  if (options_.detect_anomaly) react(trace.graph(), Graph::OnFailure::error);
  running_.add_weights();
  state_.plans.make_room();
  Graph graph = run_passes(std::move(trace.graph()), options_.passes);
  if (state_.shared_states) state_.shared_states->require_readable(graph);
  step->plan = std::make_shared<Plan>(std::move(graph), state_.plans.arena());
  if (memory_limit > 0 && step->plan->arena_bytes() > memory_limit) {
    fail<MemoryError>("[Trainer]", "the plan of a step must need at most {} bytes; got {}", memory_limit,
                      step->plan->arena_bytes());
  }
  set_signature(stage, batch);  // after the trace, which may have built layers
  step->signature = signature_;
  if (reads_dataloader_) step->dataloader = dataloader_;
  return state_.plans.add(std::move(step));
}

void StepRunner::run_eagerly(Stage stage, const HostBatch& batch) {
  std::optional<Trace> traced;
  std::vector<Logged> logged;
  for (bool again = true; again;) {
    traced.emplace(Trace::Mode::eager, stage == Stage::fit);
    set_runtime_values(*traced);
    logged = trace_step(stage, symbols(*traced, batch), again);
  }
  Trace& trace = *traced;
  running_.add_weights();
  const Graph& graph = trace.graph();
  for (const auto& gate : graph.gates) {
    const bool condition = gate.on_failure == Graph::OnFailure::leave_out;
    const bool fatal = (options_.detect_anomaly && !condition) || gate.on_failure == Graph::OnFailure::error;
    if (!options_.silent && fatal && gate.ok.item() == 0) {
      throw NonFiniteError(error_of(gate, overflow_of(graph, gate.group)));
    }
  }
  results_.take(std::move(logged), graph);
  if (!options_.silent) {
    report_emulation(state_.notices, graph);
    report_int8_emulation(state_.notices, graph);
    warn_without_int8(state_.notices, graph, options_);
  }
  if (counts_updates(stage)) mezzo::count_updates(graph, update_count);
  if (!options_.silent && awaits_non_finite_output(state_.notices, stage))
    warn_of_non_finite_output(state_.notices, stage, graph);
  for (const auto& update : graph.updates) {
    if (result_in(graph, update.group) == UpdateResult::committed) update.variable->store(update.value.tensor());
  }
  if (stage != Stage::fit) return;
  const std::vector<AppliedOptimizer> applied = applied_in(graph, calls_);
  const bool seeks = record_.seeks_overflow(applied);
  for (const AppliedOptimizer& one : applied) {
    record_.count(
        one, [&](int group) { return result_in(graph, group); },
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
