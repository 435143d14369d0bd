#pragma once
#include <vector>

#include <mezzo/data/loaders.hpp>
#include <mezzo/training/loops/settings.hpp>
#include <mezzo/training/module/history.hpp>

namespace mezzo::detail {

/// Trains epochs, each followed by validation if that loader isn't absent.
History fit(Module& module, const DataLoader& train, const DataLoaders& validation, const FitSettings& settings);

/// Means over the samples of the numbers that a stage's steps log.
Logs evaluate(Module& module, const DataLoaders& loaders, Stage stage, const EvaluationSettings& settings);

/// Outputs for all samples, concatenated along axis 0: one tensor for each output of predict_step. Empty without
/// return_predictions, as for each loader below.
std::vector<Tensor> predict_all(Module& module, const DataLoader& loader, const EvaluationSettings& settings);

/// The same for a module with one output, for each loader. A ValueError if it has several.
std::vector<Tensor> predict(Module& module, const DataLoaders& loaders, const EvaluationSettings& settings);

}  // namespace mezzo::detail
