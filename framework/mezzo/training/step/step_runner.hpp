#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <mezzo/compiler/overflow.hpp>
#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/compiler/plan.hpp>
#include <mezzo/data/batch.hpp>
#include <mezzo/data/loader.hpp>
#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/training/module/history.hpp>
#include <mezzo/training/module/session.hpp>
#include <mezzo/training/module/step_probe.hpp>
#include <mezzo/training/ranks/step_ranks.hpp>
#include <mezzo/training/step/fit_session.hpp>
#include <mezzo/training/step/means.hpp>
#include <mezzo/training/step/metric_tracker.hpp>
#include <mezzo/training/step/rank_states.hpp>
#include <mezzo/training/step/scheduler_state.hpp>
#include <mezzo/training/step/step_context.hpp>

namespace mezzo::detail {

/// Kind of step.
enum class Phase { train, validate, test, predict };

/// Options of a StepRunner.
struct RunOptions {
  Policy policy{};                               ///< of the Trainer; one that inherits leaves each model its own
  bool eager = false;                            ///< runs node by node, without plans
  PipelineOptions passes{};                      ///< compiler passes
  std::optional<LossScaleOptions> loss_scale{};  ///< of the Trainer; not given: of each optimizer
  std::optional<bool> adaptive_threads{};        ///< of the Trainer; not given: adaptive_threads()
  std::optional<bool> float32_winograd{};        ///< of the Trainer; not given: MEZZO_FLOAT32_WINOGRAD
  std::optional<StepContext::Clip> clip{};       ///< of the Trainer; not given: of each optimizer
  int accumulate = 0;           ///< steps of an update; 0: gradient_accumulation_steps of each optimizer
  bool detect_anomaly = false;  ///< ends at non-finite numbers of any kind, with their origin
  /// Skips steps with non-finite numbers without errors and warnings, and accepts optimizer options without effect.
  bool silent = false;
  std::shared_ptr<Communicator> communicator{};  ///< ranks whose batches make one; null: none
  bool shard_optimizer_states = false;           ///< each rank updates a part of the weights
  bool compress_gradients = false;               ///< ranks send gradients in bfloat16
  bool sync_batchnorm = false;                   ///< true: all batch norms use the statistics of all ranks
};

/// Adds the weights of a group to those of its optimizer, unless that trains all. A NameError for an unknown optimizer.
void add_weights(OptimizerConfigs& configs, const ParamGroup& group);

/// Hash of the names and roles of a batch's fields.
std::uint64_t fields_signature(const HostBatch& batch);

/// An optimizer that a step applies.
struct AppliedOptimizer {
  std::size_t optimizer = 0;  ///< index
  std::size_t calls = 1;      ///< of minimize()
  bool scaled = false;        ///< true if its gradients carry a loss scale
};

/// A step that was traced and compiled for one signature.
struct CompiledStep {
  /// Everything that a plan depends on.
  struct Signature {
    Phase phase = Phase::train;
    int threads = 0;  ///< thread_count()
    std::string policy;
    std::string regions;       ///< casts of autocast() and disable_casts() around the call
    std::uint64_t layers = 0;  ///< layers_signature()
    std::vector<Spec> inputs;
    std::uint64_t fields = 0;  ///< fields_signature()
    std::optional<bool> float32_winograd{};
    std::uint64_t options = 0;                ///< options_signature()
    std::uint64_t windows = 0;                ///< windows_signature()
    std::optional<std::size_t> dataloader{};  ///< index of the loader, if the step depends on it
  };
  Signature signature;
  std::int64_t used = 0;  ///< TrainingState::runs at its last run
  std::shared_ptr<Plan> plan;
  bool float16 = false;            ///< computes_in_float16()
  std::vector<Logged> logged;      ///< outputs of the plan, and metrics
  std::size_t logged_outputs = 0;  ///< outputs of the plan that are logged; those of a predict step follow them
  std::vector<Shared<MetricState>> metrics;    ///< that the step updates
  std::vector<AppliedOptimizer> applied;       ///< optimizers
  RankVariables ranked;                        ///< of a step whose batch is a part of one
  std::vector<RankShards::Variables> sharded;  ///< by optimizer, weights that one rank updates for all
  std::vector<std::shared_ptr<const GradientBucket>> buckets{};  ///< of the ranks
};

class StepRunner;

/// Position in a training.
struct Progress {
  std::int64_t step = 0;      ///< training steps done, skipped steps too
  std::int64_t updates = 0;   ///< steps that have updated weights
  double seconds = 0;         ///< time of the fits so far, by the running one when it saves
  std::int64_t epoch = 0;     ///< epochs done
  std::int64_t batch = 0;     ///< batches done of the unfinished epoch
  std::int64_t pass = 0;      ///< passes over the data done; differs from `epoch` under steps_per_epoch
  std::int64_t position = 0;  ///< batches done of the unfinished pass
  std::int64_t samples = 0;   ///< samples of these batches
  int fit_epoch = 0;          ///< number of the running or next epoch of the fit, as in its History
};

/// What the start of a fit clears.
struct FitRecord {
  LoaderFingerprint data;                                      ///< of the last fit, whose data the progress counts
  std::vector<ParamGroup> param_groups;                        ///< of the last fit
  History history;                                             ///< epochs of the last fit that have ended
  Means epoch_means;                                           ///< of the batches done of the unfinished epoch
  std::map<std::string, std::vector<Tensor>> resumed_metrics;  ///< of that epoch, until its first step after a resume
  /// Validation batches of the last fit before now, by loader; those of the sanity check don't count.
  std::vector<std::int64_t> evaluated_batches{};
};

/// Training state of a module: optimizers, counters, plans.
struct TrainingState : RunState, Progress, FitRecord {
  /// True on the thread that runs the module, while hooks of callbacks run.
  bool is_between_steps() const;

  Session* session_of_hook() const override { return is_between_steps() ? session : nullptr; }
  History history_of(Module& module) const override;

  OptimizerConfigs optimizers;
  bool configured = false;                   ///< true once `optimizers` are set
  Policy chosen;                             ///< result of precision "auto"
  std::vector<SchedulerState> schedulers;    ///< by optimizer; empty before the first
  bool trained = false;                      ///< true if last_plan is a training plan
  std::vector<std::int64_t> skipped_before;  ///< by optimizer, skipped steps at the start of the unfinished epoch
  Numbers validated;                         ///< of the last validation in that epoch, under the names of History
  std::set<std::string> validated_in_bar{};  ///< names among them that the progress bar shows
  std::int64_t validated_at = 0;             ///< batches of that epoch before it; 0: none
  bool last_of_epoch = false;                ///< true if the next training step is the last of its epoch
  FitSession* session = nullptr;             ///< of the running fit
  const MetricScope* set_aside = nullptr;  ///< metrics of that epoch, during a validation; null: the metrics have them
  std::atomic<const void*> between_steps{nullptr};  ///< key of the thread whose hooks run; null: none
  StepRunner* running = nullptr;                    ///< innermost one
  std::shared_ptr<RankStates> rank_states{};        ///< of the running fit of several ranks, and of one that failed
  std::shared_ptr<Arena> arena = std::make_shared<Arena>();
  std::vector<std::unique_ptr<CompiledStep>> steps;  ///< the plan_cache_size() ones that were used last
  std::int64_t runs = 0;                             ///< runs of compiled steps, of all kinds
  std::array<int, 4> compiled{};                     ///< number of plans that were made, by Phase
  std::set<std::string> told;                        ///< notices that appear once for a model
};

/// Training state of the module; the first call makes it.
TrainingState& training_state(Module& module);
std::shared_ptr<TrainingState> shared_training_state(Module& module);

/// Makes the next call of training_state() make a new one.
void forget_training(Module& module);

/// Marks a module and its weights as running for its lifetime. Waits while other threads access them: save a
/// checkpoint, read a weight.
class RunningScope {
 public:
  /// A ValueError if the module is running already, or if another thread runs a module that shares a weight. Unless
  /// `alone`, hooks of callbacks may run the module inside of another run.
  explicit RunningScope(Module& module, bool alone = true);

  /// Adds the weights that were made since.
  void add_weights();

 private:
  Module& module_;
  std::optional<RunScope> scope_;
};

/// Accesses the state and the weights of a module for its lifetime, without running it. Waits while another thread does
/// so. A ValueError if the module is running, unless a hook of that run calls and `alone` is false.
class IdleScope {
 public:
  explicit IdleScope(Module& module, bool alone = true);

 private:
  std::shared_ptr<TrainingState> state_;
  std::optional<AccessScope> scope_;
};

/// Runs steps of a module. Traces and compiles each signature once; later steps run the plan and allocate nothing.
class StepRunner {
 public:
  /// `between_steps`: hooks of callbacks may make it while another one runs the module. It then computes with the
  /// options of that one, unless it has a policy.
  enum class Use { alone, between_steps };

  /// Scopes of autocast() and disable_casts() around the call hold in the steps, unless the Trainer has a policy, which
  /// is nearer. A ValueError if the module is running already, or if the Trainer's policy applies to no layer.
  StepRunner(Module& module, RunOptions options, Use use = Use::alone);

  /// Traces a step without gradients and updates. Builds layers, and throws the errors of a bad batch before training
  /// changes anything.
  Graph rehearse(Phase phase, const HostBatch& batch);

  /// Makes the optimizers by configure_optimizers() if there are none yet. `anew` makes them in any case, and resets
  /// their state and all counters. The layers must be built.
  void configure(bool anew);

  /// The two parts of configure(): makes and checks optimizers; sets them as those of the module.
  OptimizerConfigs make_optimizers() const;
  void use(OptimizerConfigs optimizers, bool anew);

  /// Variables that each of these optimizers would update in a training step.
  std::vector<std::vector<std::shared_ptr<VariableState>>> updated_by(const OptimizerConfigs& optimizers,
                                                                      const HostBatch& batch);

  /// Runs a step. The first run converts the module's weights to the dtypes of the Trainer's policy. The first training
  /// run splits or joins master weights as the optimizers' split_master_weights requires.
  /// `batch_idx` is the index of the batch in its epoch.
  void run(Phase phase, const HostBatch& batch, std::int64_t batch_idx = 0);

  /// The conversion of the first run(), without a step.
  void convert_weights();

  Module& module() const { return module_; }

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

  /// Ranks whose batches make one, or null.
  Communicator* communicator() const { return options_.communicator.get(); }

  /// Index of the loader of the next batches.
  void set_dataloader_idx(std::size_t index) { dataloader_ = index; }

  /// True if the last step skipped updates because of non-finite numbers.
  bool skipped() const { return skipped_; }

  const OptimizerConfigs& optimizers() const { return state_.optimizers; }

  /// True if the last update of optimizer i had a loss scale, in this runner or before a resume.
  bool scaled(std::size_t i) const { return i < scaled_.size() && scaled_[i]; }

  /// Finds the optimizers that had a loss scale before a resume, by the steps that their scales have counted.
  void resume_scaling();

  /// Names that the last step logged.
  const std::vector<Logged>& logged() const { return *logged_; }

  /// Number that the last step logged under logged()[i]; of a metric, its result so far.
  double value(std::size_t i) const;

  /// Result of a metric that the last step logged: of its batch alone, or with LogTargets::running of the epoch so far.
  /// None after a skipped step.
  std::optional<double> batch_result(const Any<Metric>& metric) const;
  Means::BatchResult batch_results() const {
    return [this](const Any<Metric>& metric) { return batch_result(metric); };
  }

  /// Outputs of the last predict step.
  std::vector<Tensor> outputs() const;

  MetricTracker& metrics() { return metrics_; }

  /// Updates of weights in every 16th training step since it was last set. Not those of silent runs.
  UpdateCount update_count{};

  /// Bytes that the arena of a new plan may have; 0: no limit. A plan that needs more is a MemoryError.
  std::size_t memory_limit = 0;

 private:
  /// Notes in the training state that this run is the innermost one, inside of a step.
  struct Nesting {
    Nesting(TrainingState& training, StepRunner& runner);
    ~Nesting();
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    StepRunner* outer;  ///< run whose hooks make this one, or null
    TrainingState& state;
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

  /// Hash of the options that are parts of a step: clip, detect_anomaly, ranks and sync_batchnorm.
  std::uint64_t options_signature() const;
  /// Hash of the windows of accumulated gradients of all optimizers; 0 unless the phase trains.
  std::uint64_t windows_signature(Phase phase) const;
  /// Sets the windows of accumulated gradients for the next training step.
  void set_windows(const OptimizerConfigs& configs) const;
  void convert(Phase phase, const HostBatch& batch);
  void keep_masters(const HostBatch& batch);
  CompiledStep* find_step(Phase phase, const HostBatch& batch) const;
  CompiledStep* compile(Phase phase, const HostBatch& batch);
  Value user_step(Phase phase, const Batch& batch);
  /// Traces a step with its outputs. Metrics that it updates are in metrics_.updated. Sets `again` if it must be traced
  /// once more, with guards.
  std::vector<Logged> trace_step(Phase phase, const Batch& batch, bool& again);
  /// Adds the state of metrics for the batch alone to the outputs of the running trace, where a number of it is logged.
  void add_batch_states(std::vector<Logged>& logged) const;
  void run_plan(Phase phase, const HostBatch& batch);
  void end_of_ranks();    ///< gathers the weights that other ranks have updated, and notes the transfers of the step
  void resume_metrics();  ///< gives the metrics of the step the numbers of a resumed epoch
  bool counts_updates(Phase phase) const;  ///< in the next run
  void make_room();                        ///< drops the plans that were used longest ago, until one more may be added
  void run_eagerly(Phase phase, const HostBatch& batch);
  /// True if a skip in the next run would cause a warning or an error. Its origin must then be sought, which outside
  /// eager mode runs the kernels up to the gates a second time.
  bool seeks_overflow(const std::vector<AppliedOptimizer>& applied) const;
  /// Records the result of a run for one optimizer that the step applies. Counts the updates that were committed. If
  /// gradients are scaled, updates the loss scale once, as after a skip if one of the updates was skipped, and warns of
  /// some skips. Sets failure_ if the step overflowed at the smallest loss scale. Both functions get the group of an
  /// update: `committed`; `overflow`, the origin in the texts, none if unknown.
  void count_updates(const AppliedOptimizer& applied, const std::function<bool(int)>& committed,
                     const std::function<std::optional<Overflow>(int)>& overflow);
  /// Text of the origin of a skip; with several ranks, of the rank that has computed its value first. All ranks call
  /// it.
  std::string origin_of(const std::optional<Overflow>& overflow) const;
  double runtime_value(const RuntimeKey& key) const;
  double share_of_batch() const;  ///< of this rank
  void set_runtime_values(Trace& trace) const;
  void warn_of_many_plans(Phase phase, const HostBatch& batch);

  Module& module_;
  RunningScope running_;
  TrainingState& state_;
  RunOptions options_;
  Nesting nesting_;
  CastRegions regions_;           // around the call
  std::string regions_key_;       // their text
  CompiledStep* step_ = nullptr;  // of the last run
  std::vector<Tensor> inputs_;
  std::vector<double> numbers_;
  std::optional<BatchPart> part_;    // of the running or last batch
  std::vector<double> rank_values_;  // of its outputs, those of all ranks
  std::vector<double> rank_sums_;    // that it adds to metrics, of all ranks
  const std::vector<Logged>* logged_ = nullptr;
  std::vector<Logged> eager_logged_;
  std::vector<Tensor> eager_values_;
  std::size_t eager_logged_outputs_ = 0;
  MetricTracker metrics_;
  std::vector<bool> scaled_;                    // by optimizer
  std::vector<std::size_t> calls_;              // of minimize() in the last traced step, by optimizer
  bool guards_ = false;                         // of StepContext
  std::vector<RankShards::Variables> sharded_;  // of the last traced step, by optimizer
  std::size_t dataloader_ = 0;
  std::int64_t batch_idx_ = 0;     // of the running step
  bool reads_dataloader_ = false;  // of the last traced step
  bool converted_ = false;
  bool masters_kept_ = false;
  bool skipped_ = false;
  bool updated_ = false;  // true if the last step has updated weights
  std::string failure_;   // error of the last optimizer that failed in a step; thrown after all are counted
};

}  // namespace mezzo::detail
