#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <mezzo/graph/value.hpp>
#include <mezzo/training/module/module.hpp>

namespace mezzo::detail {

/// A weight that an optimizer trains and that the step has read.
struct TrainedWeight {
  std::string path;
  std::shared_ptr<VariableState> variable;
  Value value;          ///< read by the loss
  bool newest = false;  ///< false if the weight has been updated since
};

/// Reads of weights that a loss is computed from.
struct LossReads {
  std::vector<TrainedWeight> weights;  ///< that the optimizer trains
  std::vector<std::string> paths;      ///< of all weights that it trains and that the step has read, for whatever
};
LossReads reads_of(const Module& module, const OptimizerConfig& config, const Value& loss);

/// Lets a hook of the module see gradients and replace them. True if it has replaced one. A ValueError if their number
/// changes, a ShapeError for a gradient of another shape.
bool show_gradients(const std::vector<TrainedWeight>& weights, Values& gradients,
                    const std::function<void(Gradients&)>& hook);

}  // namespace mezzo::detail
