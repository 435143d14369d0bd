#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/training/module/module.hpp>

namespace mezzo::detail {

/// Surroundings of a predict step.
struct PredictSetting {
  Policy policy{};                    ///< of layers without a policy of their own
  CastRegions regions{};              ///< of autocast() around the step
  std::vector<std::string> fields{};  ///< names of the inputs, as fields of the batch
};

/// Traces the predict step for inputs of these specs, whose sizes are known. Outputs are those of predict(): floats as
/// float32 or float64. Throws what the layers' checks throw.
Graph trace_predict_step(Module& module, const PredictSetting& setting, const std::vector<Spec>& inputs);

/// The outputs of the predict step for a batch of `rows` samples.
Values call_predict_step(Module& module, const PredictSetting& setting, const Values& inputs, std::int64_t rows);

}  // namespace mezzo::detail
