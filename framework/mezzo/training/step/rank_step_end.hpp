#pragma once
#include <vector>

#include <mezzo/training/step/plan_cache.hpp>
#include <mezzo/training/step/rank_states.hpp>

namespace mezzo::detail {

/// Ends a training step of several ranks: gathers the weights that other ranks have updated, and sets `transfers` to
/// those of the step. `states`: of the fit, null outside of one. All ranks must call it.
void end_rank_step(const RankStates* states, const CompiledStep& step, bool skipped, std::vector<Transfer>& transfers);

}  // namespace mezzo::detail
