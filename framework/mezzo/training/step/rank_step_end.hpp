#pragma once
#include <mezzo/training/step/training_state.hpp>

namespace mezzo::detail {

/// Ends a training step of several ranks: gathers the weights that other ranks have updated, and notes the transfers of
/// the step. All ranks must call it.
void end_rank_step(TrainingState& state, const CompiledStep& step, bool skipped);

}  // namespace mezzo::detail
