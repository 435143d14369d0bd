#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/nn/layer.hpp>
#include <mezzo/nn/optimizer.hpp>
#include <mezzo/training/batch.hpp>

namespace mezzo {

/// Names and numbers: what evaluate, validate and test return.
using Logs = std::map<std::string, double>;

/// `prog_bar` shows it in the progress bar.
struct LogOptions {
  bool prog_bar = false;
};

/// An optimizer and what it trains: `weights` {} means every trainable weight of the module. `name` tells several
/// apart. `loss_scale` is how its gradients are scaled in steps that compute in float16; the Trainer's goes before it.
struct OptimizerConfig {
  Any<Optimizer> optimizer = "adam";
  std::vector<Variable> weights{};
  std::string name{};
  std::optional<LossScaleOptions> loss_scale{};
};
using OptimizerConfigs = std::vector<OptimizerConfig>;

class Plan;

/// What runs leave with a module: training/ derives from it.
struct RunState {
  virtual ~RunState() = default;
  std::shared_ptr<const Plan> last_plan;  ///< of the last step, for explain()
};

/// One of the module's optimizers, inside a training step.
class OptimizerHandle {
 public:
  explicit OptimizerHandle(std::size_t index) : index_(index) {}
  std::size_t index() const { return index_; }

 private:
  std::size_t index_;
};

/// A layer that knows how to be trained, in Lightning's way: it says what one step computes, and the Trainer does the
/// rest. Steps are traced once per shape of the batch, so they hold no state of their own.
class Module : public Layer {
 public:
  /// The loss of a batch: one number, or one per sample, of which the mean is taken. A module that calls minimize()
  /// itself returns what is to be reported.
  virtual Value training_step(const Batch& batch);

  /// Logs what is to be measured on a validation batch.
  virtual void validation_step(const Batch& batch);

  /// The same for Trainer::test; validation_step unless overridden.
  virtual void test_step(const Batch& batch) { validation_step(batch); }

  /// What Trainer::predict returns for a batch: the module called on its input field, unless overridden.
  virtual Value predict_step(const Batch& batch);

  /// The optimizers that train it, with state of their own.
  virtual OptimizerConfigs configure_optimizers();

  /// Whether fit puts "val_" before the names that validation logs, as Keras does. A Module of one's own names them;
  /// only a name that training logs too gets it.
  virtual bool prefixes_validation() const { return false; }

  /// @name For the code that runs steps
  /// @{
  const std::shared_ptr<RunState>& run_state() const { return run_state_.pointer(); }
  void set_run_state(std::shared_ptr<RunState> state) { run_state_.set(std::move(state)); }
  /// @}

 protected:
  explicit Module(const char* kind = "Module") : Layer(kind) {}
  template <class Options>
  Module(const char* kind, const Options& options) : Layer(kind, options) {}
  Module(const Module&) = default;  // public, `Module m = classifier` would slice
  Module(Module&&) = default;
  Module& operator=(const Module&) = default;
  Module& operator=(Module&&) = default;

  /// Inside a step: reports the mean of a Value under this name, averaged over the samples of the epoch in double. A
  /// C++ number would be frozen at the first step: a ValueError.
  static void log(const std::string& name, const Value& value, const LogOptions& options = {});

  /// The op: the member above would hide it.
  static Value log(const Value& x) { return mezzo::log(x); }

  /// Inside a training step: one of configure_optimizers' by name; a NameError that lists them otherwise.
  static OptimizerHandle optimizer(const std::string& name);

  /// Inside a training step: one update of the optimizer's weights by the gradient of `loss` (its mean).
  static void minimize(const Value& loss, const OptimizerHandle& optimizer);

 private:
  Transient<RunState> run_state_;
};

}  // namespace mezzo
