#pragma once
#include <cstddef>
#include <string>

#include <mezzo/core/innermost.hpp>
#include <mezzo/nn/metric.hpp>
#include <mezzo/training/module/log_options.hpp>
#include <mezzo/training/module/optimizer_handle.hpp>

namespace mezzo::detail {

/// A step that a thread traces, as the static functions of Module reach it. Implemented by training/step.
class TracedStep : public Innermost<TracedStep> {
 public:
  /// Innermost step of this thread. A ValueError outside of steps. `what` is the call that needs a step, for the text.
  static TracedStep& current(const std::string& what);

  virtual void log(const std::string& name, const Value& value, const LogOptions& options) = 0;
  virtual void log_metric(const std::string& name, const Any<Metric>& metric, const LogOptions& options) = 0;
  virtual OptimizerHandle optimizer(const std::string& name) const = 0;
  virtual void minimize(const Value& loss, const OptimizerHandle& optimizer) = 0;

  /// Index of the loader of the step's batch. Records that the step depends on it.
  virtual std::size_t dataloader_idx() = 0;
  /// Index of the step's batch in its epoch: int64 of shape ().
  virtual Value batch_idx() const = 0;

  /// Records all outputs of a module in a predict step. `where` begins the errors about them.
  virtual void note_outputs(const Values& outputs, const std::string& where) = 0;

 protected:
  TracedStep() = default;
  ~TracedStep() = default;
};

/// Result of a predict step with these outputs: the first. A step records all of them; outside of steps, several
/// outputs are a ValueError that begins with `where`.
Value first_output(const Values& outputs, const std::string& where);

/// Throws a ValueError that begins with `where` unless there is one output.
void require_one_output(std::size_t outputs, const std::string& where, const std::string& verb);

}  // namespace mezzo::detail
