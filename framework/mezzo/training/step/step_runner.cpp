#include <mezzo/training/step/step_runner.hpp>

#include <algorithm>
#include <chrono>
#include <set>

#include <mezzo/compiler/kernel_options.hpp>
#include <mezzo/core/contention.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/core/tuning.hpp>
#include <mezzo/nn/quantize_weights.hpp>
#include <mezzo/nn/waiting_weights.hpp>
#include <mezzo/nn/weight_conversion.hpp>
#include <mezzo/training/ranks/rank_outputs.hpp>
#include <mezzo/training/step/int8_policy.hpp>
#include <mezzo/training/step/layer_policies.hpp>
#include <mezzo/training/step/master_weights.hpp>
#include <mezzo/training/step/non_finite_outputs.hpp>
#include <mezzo/training/step/optimizer_weights.hpp>
#include <mezzo/training/step/rank_step_end.hpp>

namespace mezzo::detail {
namespace {

/// Hash of the windows of accumulated gradients of all optimizers, and of the groups of weights; 0 unless it trains.
std::uint64_t windows_signature(const OptimizerConfigs& optimizers, const std::vector<ParamGroup>& groups,
                                Stage stage) {
  std::uint64_t hash = 0;
  if (stage != Stage::fit) return hash;
  for (const OptimizerConfig& config : optimizers) {
    hash = mix(hash, static_cast<std::uint64_t>(config.optimizer->accumulation_steps()));
    hash = mix(hash, config.optimizer->completes_window() ? 2 : 1);
  }
  for (const ParamGroup& group : groups) {
    hash = mix(hash, group.weights.size());
    for (const Variable& weight : group.weights) {
      hash = mix(hash, static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(weight.id())));
    }
  }
  return hash;
}

/// Hash of the options that are parts of a step: clip, detect_anomaly, ranks and sync_batchnorm. `shares`: the batch is
/// a part of one.
std::uint64_t options_signature(const RunOptions& options, bool shares) {
  const double bound = options.clip ? options.clip->bound : 0;
  const std::uint64_t flags = (options.detect_anomaly ? 1U : 0U) |
                              (options.clip && options.clip->by_element ? 2U : 0U) | (options.sync_batchnorm ? 4U : 0U);
  const auto ranks = reinterpret_cast<std::uintptr_t>(shares ? options.group.communicator().get() : nullptr);
  return mix(mix(key_of(fmt::format("{}", bound)), flags), static_cast<std::uint64_t>(ranks));
}

UpdateResult result_in(const Plan& plan, int group) {
  if (plan.left_out(group)) return UpdateResult::left_out;
  return plan.committed(group) ? UpdateResult::committed : UpdateResult::skipped;
}

}  // namespace

StepRunner::StepRunner(Module& module, RunOptions options, Use use)
    : module_(module),
      running_(module, use == Use::alone),
      state_(training_state(module)),
      options_(std::move(options)),
      nesting_(state_, *this),
      record_(state_.optimizers, state_, options_.silent) {
  if (nesting_.outer != nullptr && options_.policy.inherits()) {
    const RunOptions& outer = nesting_.outer->options_;
    options_.int8_inside = outer.int8_inside;
    options_.policy = outer.policy;  // a call by a hook computes like the running one
    options_.eager = outer.eager;
    options_.adaptive_threads = outer.adaptive_threads;
    options_.float32_winograd = outer.float32_winograd;
    options_.float32_matmul = outer.float32_matmul;
  }
  require_reach(module, options_.policy);
  // Inside another model's step they are those of its layers.
  if (options_.policy.inherits() && current_frames().empty()) regions_ = outer_regions();
  if (options_.group.shared() && options_.eager) {
    fail<ValueError>("[Trainer]", "eager must be false in a training of several ranks; got true with {} ranks",
                     options_.group.communicator()->size());
  }
  for (const CastRegion& region : regions_) {
    signature_.regions += fmt::format("{};", region.casts ? region.policy.name() : "no casts");
  }
}

StepRunner::Nesting::Nesting(RunningFit& fit, StepRunner& runner)
    : outer(std::exchange(fit.running, &runner)), running(fit), between_steps(fit.between_steps.exchange(nullptr)) {}

StepRunner::Nesting::~Nesting() {
  running.running = outer;
  running.between_steps = between_steps;
}

void StepRunner::run(Stage stage, const HostBatch& batch, std::int64_t batch_idx) {
  if (stage == Stage::fit) {
    for (const OptimizerConfig& config : state_.optimizers) config.optimizer->require_trainable();
  }
  const ScopedValue winograd(kernel_options().float32_winograd, options_.float32_winograd);
  const ScopedValue matmul(kernel_options().float32_matmul, options_.float32_matmul);
  batch_ = {.index = batch_idx, .part = options_.group.shared() ? batch.part : std::nullopt};
  record_.begin(batch_.part ? options_.group.communicator().get() : nullptr);
  if (stage == Stage::fit) set_windows(state_.optimizers, options_, state_.last_of_epoch);
  if (weights_wait(*module_.state())) rehearse(stage, batch);
  if (!converted_) convert(stage, batch);
  if (stage == Stage::fit && !masters_kept_) keep_masters(batch);
  Contention& contention = Contention::of_thread();
  const bool adapts = options_.adaptive_threads.value_or(adaptive_threads());
  const ThreadLimit threads(contention.threads(adapts));
  const auto start = std::chrono::steady_clock::now();
  if (options_.eager) {
    run_eagerly(stage, batch);
  } else {
    run_plan(stage, batch);
  }
  contention.step_done(std::chrono::steady_clock::now() - start, adapts);
  if (stage == Stage::fit) ++state_.step;
  if (record_.updated()) ++state_.updates;
  if (!record_.failure().empty()) throw NonFiniteError(record_.failure());
}

void StepRunner::convert(Stage stage, const HostBatch& batch) {
  if (options_.int8_inside && module_.weights().empty()) rehearse(stage, batch);  // the policy depends on the layers
  // Rounding can't be undone, so a batch that raises an error must do so before.
  if (!conversions(module_, options_.policy).empty()) rehearse(stage, batch);
  convert_weights();
}

void StepRunner::convert_weights() {
  options_.policy = completed_policy(options_.policy, options_.int8_inside, module_);
  require_quantized(*module_.state(), options_.policy, "[Trainer] precision:");
  const std::vector<Conversion> all = conversions(module_, options_.policy);
  for (const Conversion& due : all) require_finite_as(due.dtype, due.path, *due.weight, "[Trainer] precision:");
  convert_all(all);
  converted_ = true;
}

void StepRunner::keep_masters(const HostBatch& batch) {
  const auto splits = [](const OptimizerConfig& config) { return config.optimizer->common().split_master_weights; };
  std::set<const VariableState*> copied;  // filled only if an optimizer splits: it costs another trace
  if (std::any_of(state_.optimizers.begin(), state_.optimizers.end(), splits)) {
    copied = copied_to_bfloat16(rehearse(Stage::fit, batch), options_.passes);
  }
  for (const Variable& weight : module_.trainable_weights()) {
    if (state_.shared_states && state_.shared_states->divides(*weight.state())) continue;
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

void StepRunner::run_plan(Stage stage, const HostBatch& batch) {
  const auto start = Profile::Clock::now();
  set_signature(stage, batch);
  CompiledStep* step = state_.plans.find(signature_, dataloader_);
  if (step == nullptr) step = compile(stage, batch);
  state_.plans.use(*step);
  if (stage == Stage::fit && !state_.resumed_metrics.empty()) resume_metrics(*step);
  for (const auto& metric : step->metrics) metrics_.before_update(metric);
  inputs_.resize(batch.fields.size());
  for (std::size_t i = 0; i < inputs_.size(); ++i) inputs_[i] = batch.fields[i].tensor;
  const std::vector<RuntimeKey>& keys = step->plan->runtime_keys();
  numbers_.resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i)
    numbers_[i] = runtime_value(state_.optimizers, state_.param_groups, state_, batch_, keys[i]);
  std::optional<StepRanks> ranks;
  if (batch_.part) ranks.emplace(*options_.group.communicator(), step->ranked, batch_.share());
  if (ranks) ranks->begin();
  const bool checks = step->float16 && !options_.silent && awaits_non_finite_output(state_.notices, stage);
  step->plan->run(inputs_, numbers_, record_.seeks_overflow(step->applied), checks,
                  counts_updates(stage) ? &update_count : nullptr);
  if (const auto& bad = step->plan->non_finite_output(); checks && bad) {
    warn_of_non_finite_output(state_.notices, stage, bad->name, bad->origin);
  }
  if (stage == Stage::fit || !state_.trained) state_.last_plan = step->plan;
  state_.trained |= stage == Stage::fit;
  for (const AppliedOptimizer& one : step->applied) {
    record_.count(
        one, [&](int group) { return result_in(*step->plan, group); },
        [&](int group) { return step->plan->overflow(group); });
  }
  if (ranks) {
    if (stage == Stage::fit) end_rank_step(state_.shared_states.get(), *step, record_.skipped(), state_.transfers);
    results_.take(*step, *ranks);
  } else {
    results_.take(*step);
  }
  step->plan->count_wall(Profile::Clock::now() - start);
}

bool StepRunner::counts_updates(Stage stage) const {
  constexpr std::int64_t every = 16;
  return stage == Stage::fit && !options_.silent && state_.updates % every == 0;
}

void StepRunner::resume_metrics(const CompiledStep& step) {
  std::vector<Shared<MetricState>> seen = metrics_.seen();
  for (const Logged& logged : step.logged) {
    const auto found = state_.resumed_metrics.find(logged.name);
    if (!logged.metric || found == state_.resumed_metrics.end()) continue;
    logged.metric->state()->set(found->second);
    seen.push_back(logged.metric->state());
  }
  metrics_.continue_with(std::move(seen));
  state_.resumed_metrics.clear();
}

std::vector<std::vector<Tensor>> StepRunner::output_parts() const {
  const std::vector<Tensor> own = results_.outputs();
  if (batch_.part) return gather_outputs(*options_.group.communicator(), own, batch_.part->size > 0);
  std::vector<std::vector<Tensor>> out;
  for (const Tensor& output : own) out.push_back({output});
  return out;
}

Policy StepRunner::base_policy() const { return options_.policy.inherits() ? dtype_policy() : options_.policy; }

Policy StepRunner::policy_in_force() const {
  const Policy& own = module_.state()->policy;
  if (!own.inherits()) return own;
  return regions_.empty() || !regions_.back().casts ? base_policy() : regions_.back().policy;
}

void StepRunner::set_signature(Stage stage, const HostBatch& batch) {
  signature_.stage = stage;
  signature_.threads = thread_count();
  signature_.policy = base_policy().name();
  signature_.layers = layers_signature(*module_.state());
  signature_.set_batch(batch);
  signature_.float32_winograd = options_.float32_winograd;
  signature_.float32_matmul = current_float32_matmul();
  signature_.options = options_signature(options_, batch_.part.has_value());
  signature_.windows = windows_signature(state_.optimizers, state_.param_groups, stage);
}

void StepRunner::configure(bool reset) {
  if (!state_.configured || reset) use(make_optimizers(), reset);
}

}  // namespace mezzo::detail
