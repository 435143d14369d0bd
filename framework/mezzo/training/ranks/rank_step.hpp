#pragma once
#include <memory>
#include <vector>

#include <mezzo/distributed/communicator.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/training/ranks/gradient_reduction.hpp>
#include <mezzo/training/ranks/rank_shards.hpp>

namespace mezzo::detail {

/// Ranks of a step that is traced.
struct RankStep {
  std::shared_ptr<Communicator> communicator{};  ///< null: one process
  std::shared_ptr<RankShards> shards{};          ///< null: each rank updates all weights
  std::shared_ptr<GradientFeedback> feedback{};  ///< null: gradients are sent as they are

  explicit operator bool() const { return communicator != nullptr; }
};

/// Numbers of all ranks that determine if an update is made.
struct RankChecks {
  Value loss{};     ///< mean over the samples
  Value finite{};   ///< bool (): all gradients
  Value squares{};  ///< float64 (): sum of their squares, of shards only
};

/// Inserts the checks of a loss and of gradients. Gradients of shards are parts of the gradients of all ranks; others
/// are those of this rank.
RankChecks check_over_ranks(const RankStep& ranks, const Value& loss, const Values& gradients, Value& after);

/// Factor of gradients that are `divisor` times too large: 1 / divisor, times min(1, clipnorm / norm) if clipnorm isn't
/// 0. `squares`: sum of the squared gradients. All are float64 ().
Value multiplier_of(const Value& divisor, const Value& squares, double clipnorm);

}  // namespace mezzo::detail
