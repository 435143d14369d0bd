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
#include <mezzo/training/step/logged.hpp>
#include <mezzo/training/step/step_updates.hpp>

namespace mezzo::detail {

/// Receiver of log(), optimizer() and minimize() on this thread while a step is traced.
class StepContext final : public TracedStep {
 public:
  enum class Purpose {
    build,   ///< layers are built: optimizer() accepts any name, minimize() only notes the loss
    survey,  ///< the weights of each optimizer are found: minimize() computes gradients, but no updates
    train    ///< minimize() computes gradients and updates
  };

  /// `optimizers` are those that optimizer() finds. The calls of minimize() make updates by `updates`.
  StepContext(Module& module, const OptimizerConfigs& optimizers, Purpose purpose, UpdateOptions updates = {});

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
  bool reads_dataloader_idx() const { return reads_dataloader_; }

  Value batch_idx() const override;

  void minimize(const Value& loss, const OptimizerHandle& optimizer) override;

  /// Minimizes the loss that a training step of `samples` samples returned, by the one optimizer, unless the step
  /// called minimize(). A ValueError if there are several optimizers, a ShapeError for a loss that is neither one
  /// number nor one per sample.
  void finish(const Value& loss, std::int64_t samples);

  /// True if the step must be traced again with guards: it reads weights after an update that is not made in each run.
  bool wants_guards() const { return updates_.conditional.read_in(Trace::current()->graph()); }

  /// Updates that the calls of minimize() have made.
  const StepUpdates& updates() const { return updates_; }
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
  /// Throws a ValueError if the step reads a weight after an update that another rank makes.
  void require_unread() const;
  void require_new(const std::string& name) const;

  Module& module_;
  const OptimizerConfigs& optimizers_;
  Purpose purpose_;
  UpdateOptions options_;
  StepUpdates updates_;
  bool minimizes_ = false, reads_dataloader_ = false;
  std::size_t dataloader_ = 0;
  std::vector<Logged> logged_;
  std::size_t logged_values_ = 0;  // logged ones that are outputs
  Values losses_, predictions_, outputs_;
  std::string outputs_where_;
};

}  // namespace mezzo::detail
