#pragma once
#include <string>
#include <vector>

#include <mezzo/training/module.hpp>

namespace mezzo::detail {

/// A value that a step reports.
struct Logged {
  std::string name;
  bool prog_bar = false;
};

/// What log(), optimizer() and minimize() mean on this thread while a step is traced.
class StepContext {
 public:
  enum class Purpose {
    build,   ///< of layers only: any optimizer may be asked for, and what is to be minimized is noted
    survey,  ///< of what is trained: gradients, but no updates
    train
  };

  /// `optimizers` are those that may be asked for.
  StepContext(Module& module, const OptimizerConfigs& optimizers, Purpose purpose);
  ~StepContext();
  StepContext(const StepContext&) = delete;
  StepContext& operator=(const StepContext&) = delete;

  /// This thread's; a ValueError that names `what` outside of a step.
  static StepContext& current(const std::string& what);

  void log(const std::string& name, const Value& value, bool prog_bar);
  OptimizerHandle optimizer(const std::string& name) const;
  void minimize(const Value& loss, const OptimizerHandle& optimizer);

  /// The training step has returned its loss: the one optimizer minimizes it, unless the step has done so itself.
  void finish(const Value& loss);

  /// The variables that each optimizer updates.
  const std::vector<std::vector<std::shared_ptr<VariableState>>>& updated() const { return updated_; }
  bool has(const std::string& name) const;  ///< whether that was logged
  const std::vector<Logged>& logged() const { return logged_; }

  /// What was to be minimized where only layers are built.
  const Values& losses() const { return losses_; }

  /// Notes what a loss is computed from, if a step is being traced.
  static void note_prediction(const Value& prediction);
  const Values& predictions() const { return predictions_; }

 private:
  /// A weight that an optimizer trains and that the step has read so far.
  struct Trained {
    std::string path;
    std::shared_ptr<VariableState> variable;
    Value value;
  };
  std::vector<Trained> trained_by(std::size_t optimizer) const;

  Module& module_;
  const OptimizerConfigs& optimizers_;
  Purpose purpose_;
  std::vector<std::size_t> minimized_;                                // optimizers
  std::vector<std::vector<std::shared_ptr<VariableState>>> updated_;  // by optimizer
  std::vector<Logged> logged_;
  Values losses_, predictions_;
  StepContext* outer_;
};

/// Whether a weight is among those of an optimizer, if it is trained.
bool trains(const OptimizerConfig& optimizer, const Variable& weight);

/// The mean of a loss or a metric as one number of at least float32.
Value mean_of(const Value& value);

}  // namespace mezzo::detail
