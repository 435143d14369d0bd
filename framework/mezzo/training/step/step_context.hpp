#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/nn/metric.hpp>
#include <mezzo/training/module/module.hpp>
#include <mezzo/training/module/session.hpp>
#include <mezzo/training/module/traced_step.hpp>
#include <mezzo/training/ranks/rank_step.hpp>

namespace mezzo::detail {

/// Way from the numbers of steps to that of an epoch.
enum class Reduction { mean, sum, min, max };

/// Receivers of a logged number.
struct LogTargets {
  bool prog_bar = false;
  bool history = true;        ///< the epoch's number goes to History and callbacks
  bool logger_step = false;   ///< the step's number goes to loggers
  bool logger_epoch = false;  ///< the epoch's number goes to loggers
  Reduction reduction = Reduction::mean;
  bool add_dataloader_idx = true;
  bool running = false;  ///< of a metric: its numbers of steps are those of the epoch so far, not of the batch

  /// A NameError for an unknown reduce_fx, a ValueError if nothing receives the number.
  static LogTargets of(const std::string& name, const LogOptions& options, bool training);
};

/// A value that a step reports: an output of its plan, or the result of a metric that it updates.
struct Logged {
  std::string name;
  LogTargets targets{};
  Any<Metric> metric{};    ///< empty for an output
  std::size_t output = 0;  ///< index among the outputs; of a metric, of the first value of its batch_state()

  /// True for a metric whose result for each batch has a receiver.
  bool of_batch() const {
    return metric && !targets.running && (targets.logger_step || (targets.prog_bar && !targets.history));
  }
};

/// Numbers of the groups of gates and updates in a step: one for each call of minimize().
class UpdateGroups {
 public:
  explicit UpdateGroups(std::size_t optimizers) : optimizers_(optimizers) {}

  int of(std::size_t optimizer, std::size_t call) const { return static_cast<int>(optimizer + call * optimizers_); }
  std::size_t optimizer(int group) const { return static_cast<std::size_t>(group) % optimizers_; }

  /// Group of updates that the step itself leaves out when they are skipped. It has no gates.
  int guarded(std::size_t optimizer) const { return of(optimizer, std::size_t{1} << 20U); }

 private:
  std::size_t optimizers_;
};

/// Receiver of log(), optimizer() and minimize() on this thread while a step is traced.
class StepContext final : public TracedStep {
 public:
  enum class Purpose {
    build,   ///< layers are built: optimizer() accepts any name, minimize() only notes the loss
    survey,  ///< the weights of each optimizer are found: minimize() computes gradients, but no updates
    train    ///< minimize() computes gradients and updates
  };

  /// Bound of the gradients, by the norm of all of an optimizer or by element.
  struct Clip {
    double bound = 0;
    bool by_element = false;
  };

  /// `optimizers` are those that optimizer() finds. Without `clip` each optimizer clips by its own options. The rate of
  /// group i of `groups` is the runtime scalar learning_rate of index optimizers.size() + i. With `guards` an update
  /// that loss scaling skips leaves the step the weights as they were, at the cost of a copy.
  StepContext(Module& module, const OptimizerConfigs& optimizers, Purpose purpose, std::optional<Clip> clip = {},
              const std::vector<ParamGroup>* groups = nullptr, bool guards = false);

  /// Innermost context of this thread. A ValueError outside of a step; `what` is the call that needs one.
  static StepContext& current(const std::string& what);
  /// Throws a ValueError inside of a step that is traced once for many: `what` would be frozen there.
  static void refuse_frozen(const char* what, const char* instead);

  void log(const std::string& name, const Value& value, const LogOptions& options) override;
  void log_metric(const std::string& name, const Any<Metric>& metric, const LogOptions& options) override;
  /// The same, but the numbers of steps are those of the epoch so far, as Keras' logs have them.
  void log_running(const std::string& name, const Any<Metric>& metric, const LogOptions& options);
  OptimizerHandle optimizer(const std::string& name) const override;

  std::size_t dataloader_idx() override {
    reads_dataloader_ = true;
    return dataloader_;
  }
  void set_dataloader_idx(std::size_t index) { dataloader_ = index; }
  /// Ranks whose gradients minimize() takes together.
  void set_ranks(RankStep ranks) { ranks_ = std::move(ranks); }
  bool reads_dataloader_idx() const { return reads_dataloader_; }

  Value batch_idx() const override;

  void minimize(const Value& loss, const OptimizerHandle& optimizer) override;

  /// Minimizes the loss that the training step of so many samples returned by the one optimizer, unless the step called
  /// minimize(). A ValueError if there are several optimizers, a ShapeError for a loss that is neither one number nor
  /// one per sample.
  void finish(const Value& loss, std::int64_t samples);

  /// True if the step must be traced again with guards: it computes a loss from weights that it has updated before, and
  /// loss scaling may skip that update.
  bool wants_guards() const { return wants_guards_ && !guards_; }

  /// Variables that each optimizer updates.
  const std::vector<std::vector<std::shared_ptr<VariableState>>>& updated() const { return updated_; }
  /// Weights among them that one rank updates for all, in this step.
  const std::vector<RankShards::Variables>& sharded() const { return sharded_; }
  std::size_t calls(std::size_t optimizer) const { return accepted_[optimizer].size(); }  ///< of minimize()
  bool has(const std::string& name) const;  ///< true if that name was logged
  const std::vector<Logged>& logged() const { return logged_; }

  /// Losses given to minimize() with Purpose::build.
  const Values& losses() const { return losses_; }

  /// Notes a prediction that a loss is computed from, if a step is being traced.
  static void note_prediction(const Value& prediction);
  const Values& predictions() const { return predictions_; }

  void note_outputs(const Values& outputs, const std::string& where) override;

  /// Outputs of a predict step that returned `result`: those noted, if `result` is the first of them, else `result`. A
  /// ValueError if the step computed `result` from the first of several.
  Values outputs(const Value& result) const;

 private:
  /// A weight that an optimizer trains and that the step has read.
  struct Trained {
    std::string path;
    std::shared_ptr<VariableState> variable;
    Value value;          ///< read by the loss
    bool newest = false;  ///< false if the weight has been updated since
  };
  /// Reads of the optimizer's weights that the loss is computed from. `paths` gets those of all weights that the step
  /// has read.
  std::vector<Trained> trained_by(std::size_t optimizer, const Value& loss, std::vector<std::string>& paths);
  /// Learning rate of a weight: that of its group, else `otherwise`.
  Value rate_of(const std::shared_ptr<VariableState>& variable, const Value& otherwise) const;
  /// Drops weights without gradient. A ValueError if the loss reads a weight as it was before an earlier update by this
  /// optimizer, or at two times.
  void keep_differentiated(std::size_t optimizer, std::vector<Trained>& weights, Values& gradients) const;
  /// Throws a ValueError if the optimizer can't make several updates in a step.
  void require_repeatable(const OptimizerConfig& config) const;
  void note_updated(std::size_t optimizer, const std::vector<Trained>& weights);
  /// Replaces gradients, times `factor` if it is defined, by means over the samples of all ranks, and adds `sums` if
  /// there are any. Keeps those of this rank's weights under shards. Returns the mean loss; undefined under shards.
  Value reduce(std::vector<Trained>& weights, Values& gradients, const Values& sums, const Value& factor,
               const Value& loss);
  /// Throws a ValueError if the step reads a weight after an update that another rank makes.
  void require_unread() const;
  /// Learning rate and number of the optimizer's next update.
  Optimizer::Step next_step(std::size_t optimizer, bool scaled) const;
  /// Lets a hook of the module see gradients and replace them. True if it has replaced one.
  static bool show(const std::vector<Trained>& weights, Values& values, const std::function<void(Gradients&)>& hook);

  Module& module_;
  const OptimizerConfigs& optimizers_;
  Purpose purpose_;
  std::optional<Clip> clip_;
  const std::vector<ParamGroup>* groups_;  // or null
  bool guards_, wants_guards_ = false, minimizes_ = false, reads_dataloader_ = false;
  std::size_t dataloader_ = 0;
  RankStep ranks_;
  Value last_reduced_;            // by the ranks, in this step
  std::vector<Values> accepted_;  // by optimizer and call of minimize(): 0 for a skipped update, 1 otherwise
  std::vector<std::vector<std::shared_ptr<VariableState>>> updated_;  // by optimizer
  std::vector<RankShards::Variables> sharded_;                        // by optimizer
  void require_new(const std::string& name) const;

  std::vector<Logged> logged_;
  std::size_t logged_values_ = 0;  // logged ones that are outputs
  Values losses_, predictions_, outputs_;
  std::string outputs_where_;
};

/// True if a list has that weight.
bool contains(const std::vector<Variable>& weights, const Variable& weight);

/// True if a weight is among those of an optimizer. Its trainable flag is not considered.
bool trains(const OptimizerConfig& optimizer, const Variable& weight);

/// Mean of a loss or a metric as a scalar of at least float32.
Value mean_of(const Value& value);

}  // namespace mezzo::detail
