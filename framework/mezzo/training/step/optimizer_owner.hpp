#pragma once
#include <memory>

#include <mezzo/nn/layer_state.hpp>
#include <mezzo/nn/optimizer.hpp>

namespace mezzo::detail {

/// Notes that the model is trained by the optimizer. A ValueError if another model was, even one that is gone: the
/// optimizer's count and learning rate would continue, but not its slots. `reset`: the optimizer was reset, so that it
/// may change the model.
void own_optimizer(const Optimizer& optimizer, const std::shared_ptr<LayerState>& model, bool reset);

}  // namespace mezzo::detail
