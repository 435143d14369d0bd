#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <mezzo/data/loaders.hpp>
#include <mezzo/training/step/step_runner.hpp>

namespace mezzo::detail {

/// Adds facts about the data of a call: a loader and the number of its batches.
void add_data(SharedFacts& facts, const std::string& name, const DataLoader& loader, std::int64_t batches);

/// Traced step of a loader's first batch; an empty graph if there is none.
Graph rehearse_first(StepRunner& runner, Stage stage, const DataLoader& loader);

/// Starts a fit in the group of a runner, when its layers are built and its optimizers made: compares the ranks, and
/// copies to all of them the weights of rank 0. Divides the states of the optimizers. `facts`: of the fit; `steps`
/// traces its steps. A ValueError for an optimizer that can't be divided. A RankError names the first rank that
/// differs, and the difference. No effect for a process alone.
void start_fit(StepRunner& runner, const SharedFacts& facts, const std::function<std::vector<Graph>()>& steps);

/// Ends it: copies to all ranks the whole states of the optimizers. No effect for a process alone.
void end_fit(StepRunner& runner);

/// Starts an evaluation or prediction in the group of a runner: builds the layers, compares the ranks and their data,
/// and copies the weights of rank 0 to all. No effect for a process alone.
void start_evaluation(StepRunner& runner, Stage stage, const DataLoaders& loaders,
                      const std::vector<std::int64_t>& steps);

}  // namespace mezzo::detail
