#pragma once
#include <memory>

#include <mezzo/nn/layer_state.hpp>
#include <mezzo/nn/optimizer.hpp>

namespace mezzo::detail {

/// Notes that the model is trained by the optimizer. A ValueError if another model was, even one that is gone: the
/// optimizer's count and learning rate would go on, but not its slots. `anew`: the optimizer was reset, so that it may
/// change the model.
void own_optimizer(const Optimizer& optimizer, const std::shared_ptr<LayerState>& model, bool anew);

}  // namespace mezzo::detail
