#pragma once
#include <memory>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/training/predictor/predict_trace.hpp>

namespace mezzo::detail {

/// A module whose predict step inserts the ops of `module`'s, with weights of its own, for any number of rows: for
/// objects that can't be copied. `inputs`: those for which the module was built; the number of rows is not used. Null
/// if the step can't be called with an unknown number of rows, or if its ops depend on that number.
std::shared_ptr<Module> replayed_step(Module& module, const PredictSetting& setting, const std::vector<Spec>& inputs);

}  // namespace mezzo::detail
