#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <mezzo/compiler/update_count.hpp>
#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/graph/scope.hpp>
#include <mezzo/nn/layer.hpp>
#include <mezzo/training/step/metric_tracker.hpp>
#include <mezzo/training/step/run_optimizers.hpp>
#include <mezzo/training/step/run_options.hpp>
#include <mezzo/training/step/run_scopes.hpp>
#include <mezzo/training/step/step_probe.hpp>
#include <mezzo/training/step/step_results.hpp>
#include <mezzo/training/step/step_scalars.hpp>
#include <mezzo/training/step/training_state.hpp>
#include <mezzo/training/step/update_record.hpp>

namespace mezzo::detail {

/// Runs steps of a module. Traces and compiles each signature once; later steps run the plan and allocate nothing.
class StepRunner {
 public:
  /// `alone`: the run trains. `between_steps`: a hook of a callback may make this runner while another runner runs the
  /// module, and so may another thread, between two batches. Without a policy of its own, this runner then uses the
  /// options of the other.
  enum class Use { alone, between_steps };

  /// Scopes of autocast() and disable_casts() around the call hold in the steps, unless the Trainer has a policy, which
  /// is nearer. A ValueError if the module is running already, or if the Trainer's policy applies to no layer.
  StepRunner(Module& module, RunOptions options, Use use = Use::alone);

  /// Traces a step without gradients and updates. Builds layers, and throws the errors of a bad batch before training
  /// changes anything.
  Graph rehearse(Stage stage, const HostBatch& batch);

  /// Makes the optimizers by configure_optimizers() if there are none yet. `reset` makes them in any case, and resets
  /// their state and all counters. The layers must be built.
  void configure(bool reset);

  /// The two parts of configure(): makes and checks optimizers; sets them as those of the module.
  OptimizerConfigs make_optimizers() const {
    return detail::make_optimizers(module_, options_, state_.param_groups, state_.last_of_epoch);
  }
  void use(OptimizerConfigs optimizers, bool reset) { use_optimizers(module_, options_, std::move(optimizers), reset); }

  /// Variables that each of these optimizers would update in a training step.
  std::vector<std::vector<std::shared_ptr<VariableState>>> updated_by(const OptimizerConfigs& optimizers,
                                                                      const HostBatch& batch);

  /// Runs a step. The first run converts the module's weights to the dtypes of the Trainer's policy. The first training
  /// run splits or joins master weights as the optimizers' split_master_weights requires.
  /// `batch_idx` is the index of the batch in its epoch.
  void run(Stage stage, const HostBatch& batch, std::int64_t batch_idx = 0);

  /// The conversion of the first run(), without a step.
  void convert_weights();

  Module& module() const { return module_; }

  /// Lets other threads predict while this one waits for data, for the lifetime of the result.
  RunningScope::Lent lend() { return RunningScope::Lent(running_); }

  /// The run whose hook made this one, or null.
  StepRunner* outer() const { return nesting_.outer; }

  /// Computes a training step up to its loss. See probe_step().
  void probe(const HostBatch& batch, const std::function<void(const ProbedStep&)>& read);

  /// Policy of the layers that have none of their own and none from a container.
  Policy base_policy() const;

  /// Policy of the module itself: its own, that of an autocast() around the call, or base_policy().
  Policy policy_in_force() const;

  /// Steps of an update from the next step on; 0: gradient_accumulation_steps of each optimizer.
  void set_accumulation(int steps) { options_.accumulate = steps; }
  int accumulation() const { return options_.accumulate; }

  const RunOptions& options() const { return options_; }

  /// Processes whose batches make one.
  const ProcessGroup& group() const { return options_.group; }

  /// Index of the loader of the next batches.
  void set_dataloader_idx(std::size_t index) { dataloader_ = index; }

  /// True if the last step skipped updates because of non-finite numbers.
  bool skipped() const { return record_.skipped(); }

  const OptimizerConfigs& optimizers() const { return state_.optimizers; }
  TrainingState& state() const { return state_; }

  /// Updates and skips of the steps of this runner.
  UpdateRecord& record() { return record_; }
  const UpdateRecord& record() const { return record_; }

  /// Numbers and outputs of the last step.
  const StepResults& results() const { return results_; }

  /// Outputs of the last predict step, each in parts along the batch axis: of this process, or of all whose batches
  /// make one. Communicates.
  std::vector<std::vector<Tensor>> output_parts() const;

  /// Names that the last step logged.
  const std::vector<Logged>& logged() const { return results_.logged(); }

  /// Number that the last step logged under logged()[i]; of a metric, its result so far.
  double value(std::size_t i) const { return results_.value(i); }

  /// StepResults::batch_result(), none after a skipped step.
  std::optional<double> batch_result(const Any<Metric>& metric) const {
    return results_.any() && !skipped() ? std::optional(results_.batch_result(metric)) : std::nullopt;
  }
  Means::BatchResult batch_results() const {
    return [this](const Any<Metric>& metric) { return batch_result(metric); };
  }

  MetricTracker& metrics() { return metrics_; }

  /// Updates of weights in every 16th training step since it was last set. Not those of silent runs.
  UpdateCount update_count{};

  /// Bytes that the arena of a new plan may have; 0: no limit. A plan that needs more is a MemoryError.
  std::size_t memory_limit = 0;

 private:
  /// Notes in the training state that this run is the innermost one, inside of a step.
  struct Nesting {
    Nesting(RunningFit& running, StepRunner& runner);
    ~Nesting();
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    StepRunner* outer;  ///< run whose hooks make this one, or null
    RunningFit& running;
    const void* between_steps;
  };

  /// Policies and root of a step, for the lifetime of the object. Made inside the step's Trace, which hides the
  /// caller's scopes.
  struct StepScope {
    explicit StepScope(const StepRunner& runner)
        : policy(runner.options_.policy), casts(runner.regions_), root(runner.module_) {}
    PolicyScope policy;
    CastScope casts;
    RootScope root;
  };

  /// Sets `signature_` to that of the next run.
  void set_signature(Stage stage, const HostBatch& batch);
  void convert(Stage stage, const HostBatch& batch);
  void keep_masters(const HostBatch& batch);
  CompiledStep* compile(Stage stage, const HostBatch& batch);
  Value user_step(Stage stage, const Batch& batch);
  /// Traces a step with its outputs. Metrics that it updates are in metrics_.updated. Sets `again` if it must be traced
  /// once more, with guards.
  std::vector<Logged> trace_step(Stage stage, const Batch& batch, bool& again);
  void run_plan(Stage stage, const HostBatch& batch);
  void resume_metrics(const CompiledStep& step);  ///< sets its metrics to the numbers of a resumed epoch
  bool counts_updates(Stage stage) const;         ///< in the next run
  void run_eagerly(Stage stage, const HostBatch& batch);
  void set_runtime_values(Trace& trace) const;

  Module& module_;
  RunningScope running_;
  TrainingState& state_;
  RunOptions options_;
  Nesting nesting_;
  CastRegions regions_;  // around the call
  StepSignature signature_;
  StepBatch batch_;  // of the running or last step
  std::vector<Tensor> inputs_;
  std::vector<double> numbers_;
  StepResults results_;
  UpdateRecord record_;
  MetricTracker metrics_;
  std::vector<std::size_t> calls_;              // of minimize() in the last traced step, by optimizer
  bool guards_ = false;                         // of StepContext
  std::vector<RankShards::Variables> sharded_;  // of the last traced step, by optimizer
  std::size_t dataloader_ = 0;
  bool reads_dataloader_ = false;  // of the last traced step
  bool converted_ = false;
  bool masters_kept_ = false;
};

}  // namespace mezzo::detail
