#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/compiler/overflow.hpp>
#include <mezzo/training/step/plan_cache.hpp>
#include <mezzo/training/step/training_parts.hpp>

namespace mezzo::detail {

/// Fate of the updates of a group in a run.
enum class UpdateResult {
  committed,
  skipped,  ///< by loss scaling
  left_out  ///< by a condition of the module
};

/// Counts the updates of training steps, those that loss scaling skips among them.
class UpdateRecord {
 public:
  /// `silent`: skips cause no warnings and errors.
  UpdateRecord(const OptimizerConfigs& optimizers, const Progress& progress, bool silent)
      : optimizers_(optimizers), progress_(progress), silent_(silent) {}

  /// Begins a step. `ranks`: those that share its batch, or null.
  void begin(Communicator* ranks);

  /// True if a skip in the next run would cause a warning or an error. Its origin must then be sought, which outside
  /// eager mode runs the kernels up to the gates a second time.
  bool seeks_overflow(const std::vector<AppliedOptimizer>& applied) const;

  /// Records the result of a run for one optimizer that the step applies. Counts the updates that were committed. If
  /// gradients are scaled, updates the loss scale once, as after a skip if one of the updates was skipped, and warns of
  /// some skips. Sets failure() if the step overflowed at the smallest loss scale. Both functions get the group of an
  /// update: `result_of`; `overflow`, the origin in the texts, none if unknown.
  void count(const AppliedOptimizer& applied, const std::function<UpdateResult(int)>& result_of,
             const std::function<std::optional<Overflow>(int)>& overflow);

  bool skipped() const { return skipped_; }  ///< true if the step skipped updates because of non-finite numbers
  bool updated() const { return updated_; }  ///< true if the step has updated weights

  /// Error of the last optimizer that failed in the step, for the time when all are counted; "" if none did.
  const std::string& failure() const { return failure_; }

  /// True if the last update of optimizer i had a loss scale, in this record or before a resume.
  bool scaled(std::size_t i) const { return i < scaled_.size() && scaled_[i]; }

  /// Finds the optimizers that had a loss scale before a resume, by the steps that their scales have counted.
  void resume();

 private:
  std::string origin_of(const std::optional<Overflow>& overflow) const;

  const OptimizerConfigs& optimizers_;
  const Progress& progress_;
  bool silent_;
  Communicator* ranks_ = nullptr;
  std::vector<bool> scaled_;  // by optimizer
  bool skipped_ = false, updated_ = false;
  std::string failure_;
};

}  // namespace mezzo::detail
