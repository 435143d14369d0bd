#include <mezzo/training/step/step_runner.hpp>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <set>

#include <mezzo/compiler/kernel_options.hpp>
#include <mezzo/core/contention.hpp>
#include <mezzo/core/execution_context.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/core/tuning.hpp>
#include <mezzo/nn/waiting_weights.hpp>
#include <mezzo/nn/weight_access.hpp>
#include <mezzo/nn/weight_conversion.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/training/step/layer_policies.hpp>
#include <mezzo/training/step/master_weights.hpp>
#include <mezzo/training/step/non_finite_outputs.hpp>

namespace mezzo::detail {
namespace {

bool same_inputs(const std::vector<Spec>& inputs, const HostBatch& batch) {
  if (inputs.size() != batch.fields.size()) return false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& tensor = batch.fields[i].tensor;
    if (inputs[i].dtype != tensor.dtype() || inputs[i].shape != tensor.shape()) return false;
  }
  return true;
}

/// `"x" axis 0 (32, 7, ...)`: first size in which a batch differs from the inputs of a plan; "" if there is none.
std::string first_difference(const std::vector<Spec>& inputs, const HostBatch& batch) {
  for (std::size_t i = 0; i < std::min(inputs.size(), batch.fields.size()); ++i) {
    const Shape& before = inputs[i].shape;
    const Shape& now = batch.fields[i].tensor.shape();
    for (std::size_t axis = 0; axis < std::min(before.size(), now.size()); ++axis) {
      if (before[axis] == now[axis]) continue;
      return fmt::format("\"{}\" axis {} ({}, {}, ...)", batch.fields[i].name, axis, before[axis], now[axis]);
    }
  }
  return {};
}

[[noreturn]] void fail_running() {
  fail<ValueError>("[Trainer]", "the model must be idle; got a call while another thread or step runs it");
}

}  // namespace

std::uint64_t fields_signature(const HostBatch& batch) {
  std::uint64_t hash = 0;
  for (const NamedTensor& field : batch.fields) {
    hash = mix(hash, mix(key_of(field.name), static_cast<std::uint64_t>(field.role)));
  }
  return hash;
}

std::shared_ptr<TrainingState> shared_training_state(Module& module) {
  const std::lock_guard<std::mutex> lock(run_state_mutex());
  if (!module.run_state()) module.set_run_state(std::make_shared<TrainingState>());
  return std::static_pointer_cast<TrainingState>(module.run_state());
}

TrainingState& training_state(Module& module) { return *shared_training_state(module); }

void forget_training(Module& module) {
  const std::lock_guard<std::mutex> lock(run_state_mutex());
  module.set_run_state(nullptr);
}

RunningScope::RunningScope(Module& module, bool alone) : module_(module) {
  std::shared_ptr<TrainingState> state;
  do {  // again if Model::compile() has replaced the state meanwhile
    state = shared_training_state(module);
    scope_.emplace();
    const bool nests = !alone && state->is_between_steps();
    if (scope_->add({{state, &state->usage}}, !nests) != nullptr) fail_running();
  } while (state != shared_training_state(module));
  add_weights();
}

void RunningScope::add_weights() {
  std::vector<RunScope::Object> weights;
  for (const Variable& weight : module_.weights()) {
    const std::shared_ptr<VariableState>& state = weight.state().pointer();
    weights.emplace_back(state, &state->usage);
  }
  if (scope_->add(weights) != nullptr) {
    fail<ValueError>(
        "[Trainer]",
        "weights of the model must be idle; got a call while another thread runs a model that shares them");
  }
}

History TrainingState::history_of(Module& module) const {
  const IdleScope idle(module, false);
  return history;
}

bool TrainingState::is_between_steps() const { return between_steps == &ExecutionContext::current(); }

IdleScope::IdleScope(Module& module, bool alone) : state_(shared_training_state(module)) {
  std::vector<Usage*> usages = usages_of(module.weights());
  usages.push_back(&state_->usage);
  scope_.emplace(std::move(usages));
  const bool nests = !alone && state_->is_between_steps();
  if (scope_->refused() || (state_->usage.runs_here() && !nests)) fail_running();
}

StepRunner::StepRunner(Module& module, RunOptions options, Use use)
    : module_(module),
      running_(module, use == Use::alone),
      state_(training_state(module)),
      options_(std::move(options)),
      nesting_(state_, *this) {
  if (nesting_.outer != nullptr && options_.policy.inherits()) {
    const RunOptions& outer = nesting_.outer->options_;
    options_.policy = outer.policy;  // a call by a hook computes like the running one
    options_.eager = outer.eager;
    options_.adaptive_threads = outer.adaptive_threads;
    options_.float32_winograd = outer.float32_winograd;
  }
  require_reach(module, options_.policy);
  // Inside another model's step they are those of its layers.
  if (options_.policy.inherits() && current_frames().empty()) regions_ = outer_regions();
  if (options_.communicator && options_.eager) {
    fail<ValueError>("[Trainer]", "eager must be false in a training of several ranks; got true with {} ranks",
                     options_.communicator->size());
  }
  for (const CastRegion& region : regions_) {
    regions_key_ += fmt::format("{};", region.casts ? region.policy.name() : "no casts");
  }
}

StepRunner::Nesting::Nesting(TrainingState& training, StepRunner& runner)
    : outer(std::exchange(training.running, &runner)),
      state(training),
      between_steps(training.between_steps.exchange(nullptr)) {}

StepRunner::Nesting::~Nesting() {
  state.running = outer;
  state.between_steps = between_steps;
}

std::uint64_t StepRunner::windows_signature(Phase phase) const {
  std::uint64_t hash = 0;
  if (phase != Phase::train) return hash;
  for (const OptimizerConfig& config : state_.optimizers) {
    hash = mix(hash, static_cast<std::uint64_t>(config.optimizer->accumulation_steps()));
    hash = mix(hash, config.optimizer->completes_window() ? 2 : 1);
  }
  for (const ParamGroup& group : state_.param_groups) {
    hash = mix(hash, group.weights.size());
    for (const Variable& weight : group.weights) {
      hash = mix(hash, static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(weight.id())));
    }
  }
  return hash;
}

std::uint64_t StepRunner::options_signature() const {
  const double bound = options_.clip ? options_.clip->bound : 0;
  const std::uint64_t flags = (options_.detect_anomaly ? 1U : 0U) +
                              (options_.clip && options_.clip->by_element ? 2U : 0U) +
                              (options_.sync_batchnorm ? 4U : 0U);
  const auto ranks = reinterpret_cast<std::uintptr_t>(part_ ? options_.communicator.get() : nullptr);
  return mix(mix(key_of(fmt::format("{}", bound)), flags), static_cast<std::uint64_t>(ranks));
}

void StepRunner::run(Phase phase, const HostBatch& batch, std::int64_t batch_idx) {
  batch_idx_ = batch_idx;
  if (phase == Phase::train) {
    for (const OptimizerConfig& config : state_.optimizers) config.optimizer->require_trainable();
  }
  const ScopedValue winograd(kernel_options().float32_winograd, options_.float32_winograd);
  part_ = options_.communicator ? batch.part : std::nullopt;
  skipped_ = updated_ = false;
  failure_.clear();
  if (phase == Phase::train) set_windows(state_.optimizers);
  if (weights_wait(*module_.state())) rehearse(phase, batch);
  if (!converted_) convert(phase, batch);
  if (phase == Phase::train && !masters_kept_) keep_masters(batch);
  Contention& contention = Contention::of_thread();
  const bool adapts = options_.adaptive_threads.value_or(adaptive_threads());
  const ThreadLimit threads(contention.threads(adapts));
  const auto start = std::chrono::steady_clock::now();
  if (options_.eager) {
    run_eagerly(phase, batch);
  } else {
    run_plan(phase, batch);
  }
  contention.step_done(std::chrono::steady_clock::now() - start, adapts);
  if (phase == Phase::train) ++state_.step;
  if (updated_) ++state_.updates;
  if (!failure_.empty()) throw NonFiniteError(failure_);
}

void StepRunner::set_windows(const OptimizerConfigs& configs) const {
  for (const OptimizerConfig& config : configs) {
    auto& window = config.optimizer->state()->window;
    window.reset();
    if (options_.accumulate > 0) window = {.steps = options_.accumulate, .ends = state_.last_of_epoch};
  }
}

void StepRunner::convert(Phase phase, const HostBatch& batch) {
  // Rounding can't be undone, so a batch that raises an error must do so before.
  if (!conversions(module_, options_.policy).empty()) rehearse(phase, batch);
  convert_weights();
}

void StepRunner::convert_weights() {
  const std::vector<Conversion> all = conversions(module_, options_.policy);
  for (const Conversion& due : all) require_finite_as(due.dtype, due.path, *due.weight, "[Trainer] precision:");
  convert_all(all);
  converted_ = true;
}

void StepRunner::keep_masters(const HostBatch& batch) {
  const auto splits = [](const OptimizerConfig& config) { return config.optimizer->common().split_master_weights; };
  std::set<const VariableState*> copied;  // filled only if an optimizer splits: it costs another trace
  if (std::any_of(state_.optimizers.begin(), state_.optimizers.end(), splits)) {
    copied = copied_to_bfloat16(rehearse(Phase::train, batch), options_.passes);
  }
  for (const Variable& weight : module_.trainable_weights()) {
    if (state_.rank_states && state_.rank_states->divides(*weight.state())) continue;
    const bool split = std::any_of(state_.optimizers.begin(), state_.optimizers.end(),
                                   [&](const auto& config) { return splits(config) && trains(config, weight); });
    if (split && copied.count(weight.state().get()) != 0) {
      weight.state()->split();
    } else {
      weight.state()->join();
    }
  }
  masters_kept_ = true;
}

void StepRunner::run_plan(Phase phase, const HostBatch& batch) {
  const auto start = Profile::Clock::now();
  step_ = find_step(phase, batch);
  if (step_ == nullptr) step_ = compile(phase, batch);
  step_->used = ++state_.runs;
  if (phase == Phase::train && !state_.resumed_metrics.empty()) resume_metrics();
  for (const auto& metric : step_->metrics) metrics_.before_update(metric);
  inputs_.resize(batch.fields.size());
  for (std::size_t i = 0; i < inputs_.size(); ++i) inputs_[i] = batch.fields[i].tensor;
  const std::vector<RuntimeKey>& keys = step_->plan->runtime_keys();
  numbers_.resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) numbers_[i] = runtime_value(keys[i]);
  std::optional<StepRanks> ranks;
  if (part_) ranks.emplace(*options_.communicator, step_->ranked, share_of_batch());
  if (ranks) ranks->begin();
  const bool checks = step_->float16 && !options_.silent && awaits_non_finite_output(state_, phase);
  step_->plan->run(inputs_, numbers_, seeks_overflow(step_->applied), checks,
                   counts_updates(phase) ? &update_count : nullptr);
  if (const auto& bad = step_->plan->non_finite_output(); checks && bad) {
    tell_of_non_finite_output(state_, phase, bad->name, bad->origin);
  }
  logged_ = &step_->logged;
  if (phase == Phase::train || !state_.trained) state_.last_plan = step_->plan;
  state_.trained |= phase == Phase::train;
  for (const AppliedOptimizer& one : step_->applied) {
    count_updates(
        one, [&](int group) { return step_->plan->committed(group); },
        [&](int group) { return step_->plan->overflow(group); });
  }
  if (ranks) {
    if (phase == Phase::train) end_of_ranks();
    rank_values_.clear();
    for (std::size_t i = 0; i < step_->logged_outputs; ++i) rank_values_.push_back(step_->plan->scalar(i));
    ranks->end(rank_values_);
    rank_sums_ = ranks->added();
  }
  step_->plan->count_wall(Profile::Clock::now() - start);
}

bool StepRunner::counts_updates(Phase phase) const {
  constexpr std::int64_t every = 16;
  return phase == Phase::train && !options_.silent && state_.updates % every == 0;
}

void StepRunner::resume_metrics() {
  std::vector<Shared<MetricState>> seen = metrics_.seen();
  for (const Logged& logged : step_->logged) {
    const auto found = state_.resumed_metrics.find(logged.name);
    if (!logged.metric || found == state_.resumed_metrics.end()) continue;
    logged.metric->state()->set(found->second);
    seen.push_back(logged.metric->state());
  }
  metrics_.continue_with(std::move(seen));
  state_.resumed_metrics.clear();
}

void StepRunner::make_room() {
  const auto older = [](const auto& a, const auto& b) { return a->used < b->used; };
  while (state_.steps.size() >= static_cast<std::size_t>(plan_cache_size())) {
    state_.steps.erase(std::min_element(state_.steps.begin(), state_.steps.end(), older));
  }
}

Policy StepRunner::base_policy() const { return options_.policy.inherits() ? dtype_policy() : options_.policy; }

Policy StepRunner::policy_in_force() const {
  const Policy& own = module_.state()->policy;
  if (!own.inherits()) return own;
  return regions_.empty() || !regions_.back().casts ? base_policy() : regions_.back().policy;
}

CompiledStep* StepRunner::find_step(Phase phase, const HostBatch& batch) const {
  const Policy policy = base_policy();
  const std::uint64_t layers = layers_signature(*module_.state());
  const std::uint64_t fields = fields_signature(batch), windows = windows_signature(phase);
  const std::uint64_t options = options_signature();
  for (const auto& step : state_.steps) {
    const CompiledStep::Signature& s = step->signature;
    if (s.phase == phase && s.threads == thread_count() && s.layers == layers && s.policy == policy.name() &&
        s.regions == regions_key_ && s.windows == windows && s.options == options &&
        s.float32_winograd == options_.float32_winograd && s.fields == fields &&
        s.dataloader.value_or(dataloader_) == dataloader_ && same_inputs(s.inputs, batch)) {
      return step.get();
    }
  }
  return nullptr;
}

void StepRunner::warn_of_many_plans(Phase phase, const HostBatch& batch) {
  if (++state_.compiled[static_cast<std::size_t>(phase)] != 9) return;
  std::string changes;
  for (const auto& step : state_.steps) {
    if (step->signature.phase == phase && changes.empty()) changes = first_difference(step->signature.inputs, batch);
  }
  warn(fmt::format("more than 8 plans for one kind of step: what changes is {}",
                   changes.empty() ? "flags or policies of layers" : changes + "; pad or bucket the data"));
}

}  // namespace mezzo::detail
