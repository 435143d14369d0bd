#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include <mezzo/graph/trace.hpp>
#include <mezzo/training/step/plan_cache.hpp>

namespace mezzo::detail {

/// Numbers of the last step of a runner.
class StepResults {
 public:
  /// Takes those of a plan that has run. They are its outputs until it runs again.
  void take(const CompiledStep& step);

  /// The same for a step of several ranks: sums over them, made by the end of `ranks`. All ranks must call it.
  void take(const CompiledStep& step, StepRanks& ranks);

  /// Takes those of an eager trace.
  void take(std::vector<Logged> logged, const Graph& eager);

  bool any() const { return logged_ != nullptr; }  ///< false before the first step

  /// Names that the step logged.
  const std::vector<Logged>& logged() const { return *logged_; }

  /// Number that the step logged under logged()[i]; of a metric, its result so far.
  double value(std::size_t i) const;

  /// Result of a metric that the step logged: of its batch alone, or with LogTargets::running of the epoch so far.
  double batch_result(const Any<Metric>& metric) const;

  /// Outputs of a predict step.
  std::vector<Tensor> outputs() const;

 private:
  Tensor output(std::size_t i) const;

  const std::vector<Logged>* logged_ = nullptr;
  const CompiledStep* step_ = nullptr;  // null: the step ran eagerly
  bool of_ranks_ = false;
  std::vector<double> rank_values_;  // of its outputs, those of all ranks
  std::vector<double> rank_sums_;    // that it adds to metrics, of all ranks
  std::vector<Logged> eager_logged_;
  std::vector<Tensor> eager_outputs_;
};

/// Logged values that are outputs, not metrics.
std::size_t count_outputs(const std::vector<Logged>& logged);

}  // namespace mezzo::detail
