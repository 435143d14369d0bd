#pragma once
#include <mezzo/data/loaders.hpp>
#include <mezzo/training/loops/fit_loop.hpp>

namespace mezzo::detail {

/// Starts a fit of several ranks, when its layers are built and its optimizers made: compares the ranks, and copies to
/// all of them the weights of rank 0. Divides the states of the optimizers. A ValueError for an optimizer that can't be
/// divided. A RankError names the first rank that differs, and the difference.
void start_ranks(const Fit& fit);

/// Ends it: copies to all ranks the whole states of the optimizers. No effect for one rank.
void end_ranks(TrainingState& state);

/// The start of an evaluation. Builds the layers.
void start_ranks(StepRunner& runner, Stage stage, const DataLoaders& loaders, const std::vector<std::int64_t>& steps);

/// Makes decisions of single ranks those of all, between two steps: stops, signals (an Interrupted), the time that
/// limits the fit. A RankError if a rank is at another step. No effect for one rank.
void agree(Fit& fit);

/// True if a rank stops.
bool agree_to_stop(const StepRunner& runner, bool stops);

}  // namespace mezzo::detail
