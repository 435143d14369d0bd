#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/compiler/plan.hpp>
#include <mezzo/data/batch.hpp>
#include <mezzo/training/step_context.hpp>
#include <mezzo/training/step_probe.hpp>

namespace mezzo::detail {

enum class Phase { train, validate, test, predict };

/// How steps are run.
struct RunOptions {
  Policy policy{};     ///< the Trainer's; inheriting: each model's own
  bool eager = false;  ///< node by node, without plans
  PipelineOptions passes{};
  std::optional<LossScaleOptions> loss_scale{};  ///< the Trainer's; none: each optimizer's own
  /// Steps whose numbers aren't finite are skipped without a word, and options of optimizers may be without effect.
  bool silent = false;
};

/// A step of one signature, traced and compiled.
struct CompiledStep {
  /// What a plan is good for: other values of these need another one.
  struct Signature {
    Phase phase = Phase::train;
    std::string policy;
    std::uint64_t layers = 0;  ///< policies, trainable flags and dtypes of weights
    std::vector<Spec> inputs;
  };
  Signature signature;
  std::shared_ptr<Plan> plan;
  std::vector<Logged> logged;        ///< one per output of the plan; a predict step's own output comes after them
  std::vector<std::size_t> updated;  ///< optimizers that it steps
  std::vector<bool> scaled;          ///< by optimizer: whether its gradients carry a loss scale
};

/// What training leaves with a module: optimizers, counters, plans.
struct TrainingState : RunState {
  OptimizerConfigs optimizers;
  bool configured = false;
  Policy chosen;           ///< what precision "auto" found for it
  bool trained = false;    ///< last_plan is one of training
  std::int64_t step = 0;   ///< training steps taken, skipped ones too
  std::int64_t epoch = 0;  ///< epochs done
  std::int64_t batch = 0;  ///< batches done of the next one
  std::shared_ptr<Arena> arena = std::make_shared<Arena>();
  std::vector<std::unique_ptr<CompiledStep>> steps;
  std::atomic<bool> running{false};
};

/// The module's, made at the first call.
TrainingState& training_state(Module& module);

/// Marks a module as being run. A ValueError if it is already.
class RunningScope {
 public:
  explicit RunningScope(TrainingState& state);
  ~RunningScope() { state_.running = false; }
  RunningScope(const RunningScope&) = delete;
  RunningScope& operator=(const RunningScope&) = delete;

 private:
  TrainingState& state_;
};

/// Runs steps of a module: traces once per signature, then runs the plan. After the first step of a signature it
/// allocates nothing.
class StepRunner {
 public:
  /// A ValueError if the module is run already, or if the Trainer's policy reaches no layer.
  StepRunner(Module& module, RunOptions options);

  /// Traces a step for what it shows, such as what is wrong with a batch, before anything is trained; builds layers. No
  /// loss is minimized.
  Graph rehearse(Phase phase, const HostBatch& batch);

  /// Makes optimizers by configure_optimizers, if there are none yet or with `anew`, which forgets their state. The
  /// layers must be built.
  void configure(bool anew);

  /// What configure() does, in two steps: optimizers as they would be, and these as those of the module.
  OptimizerConfigs make_optimizers() const;
  void use(OptimizerConfigs optimizers, bool anew);

  /// The variables that each of such optimizers would update in a training step.
  std::vector<std::vector<std::shared_ptr<VariableState>>> updated_by(const OptimizerConfigs& optimizers,
                                                                      const HostBatch& batch);

  /// The first run converts the module's weights to the dtypes that the Trainer's policy asks for; the first one that
  /// trains keeps masters as the optimizers ask.
  void run(Phase phase, const HostBatch& batch);

  /// run()'s conversion, at once.
  void convert_weights();

  Module& module() const { return module_; }

  /// A training step up to its loss, see probe_step().
  void probe(const HostBatch& batch, const std::function<void(const ProbedStep&)>& read);

  /// What holds for layers that neither have a policy of their own nor are in a container that has one.
  Policy base_policy() const;

  /// Whether the last step's updates were held back by a loss that overflowed.
  bool skipped() const { return skipped_; }

  /// The optimizers, and whether a step of this runner scaled the gradients of the i-th.
  const OptimizerConfigs& optimizers() const { return state_.optimizers; }
  bool scaled(std::size_t i) const { return i < scaled_.size() && scaled_[i]; }

  /// What the last step reported: names, and a number for each.
  const std::vector<Logged>& logged() const { return *logged_; }
  double value(std::size_t i) const;

  /// The output of a predict step.
  Tensor output() const;

 private:
  void convert(Phase phase, const HostBatch& batch);
  void keep_masters(const HostBatch& batch);
  CompiledStep* find_step(Phase phase, const HostBatch& batch) const;
  CompiledStep* compile(Phase phase, const HostBatch& batch);
  Value user_step(Phase phase, const Batch& batch);
  std::vector<Logged> trace_step(Phase phase, const Batch& batch);
  void run_plan(Phase phase, const HostBatch& batch);
  void run_eagerly(Phase phase, const HostBatch& batch);
  bool seeks_overflow(const std::vector<std::size_t>& updated) const;
  void count_update(std::size_t optimizer, bool scaled, bool committed, const std::optional<Overflow>& overflow);
  double runtime_value(const RuntimeKey& key) const;
  void give_numbers(Trace& trace) const;
  void warn_of_many_plans(Phase phase, const HostBatch& batch) const;

  Module& module_;
  TrainingState& state_;
  RunningScope running_;
  RunOptions options_;
  CompiledStep* step_ = nullptr;  // that ran last
  std::vector<Tensor> inputs_;
  std::vector<double> numbers_;
  const std::vector<Logged>* logged_ = nullptr;
  std::vector<Logged> eager_logged_;
  std::vector<Tensor> eager_values_;
  std::vector<bool> scaled_;  // by optimizer
  bool converted_ = false;
  bool masters_kept_ = false;
  bool skipped_ = false;
  std::string failure_;  // of the last step, when all optimizers are counted
};

/// A number of everything about the layers that a plan depends on.
std::uint64_t layers_signature(const LayerState& root);

/// A weight and the dtype that a Trainer's policy asks for.
struct Conversion {
  Shared<VariableState> weight;
  DType dtype;
};

/// The weights below a module whose dtype isn't what a Trainer's policy asks for. None if it inherits.
std::vector<Conversion> conversions(const Layer& root, const Policy& policy);

/// A ValueError that names what overrides it if a Trainer's policy holds for no layer.
void require_reach(const Layer& root, const Policy& policy);

}  // namespace mezzo::detail
