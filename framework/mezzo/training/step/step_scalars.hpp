#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include <mezzo/data/batch.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/training/step/training_parts.hpp>

namespace mezzo::detail {

/// A batch as the numbers of a step describe it.
struct StepBatch {
  std::int64_t index = 0;           ///< in its epoch
  std::optional<BatchPart> part{};  ///< of a batch that several ranks share

  /// Share of this rank in the samples of the batch.
  double share() const { return part ? static_cast<double>(part->size) / static_cast<double>(part->whole) : 1; }
};

/// A number that changes from step to step without another plan. `groups` have learning rates of their own.
double runtime_value(const OptimizerConfigs& optimizers, const std::vector<ParamGroup>& groups,
                     const Progress& progress, const StepBatch& batch, const RuntimeKey& key);

}  // namespace mezzo::detail
