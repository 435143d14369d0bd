#include <mezzo/training/step/optimizer_owner.hpp>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {

void own_optimizer(const Optimizer& optimizer, const std::shared_ptr<LayerState>& model, bool reset) {
  auto& owner = optimizer.state()->owner;
  if (owner && !reset && owner->lock() != model) {
    fail<ValueError>("[" + optimizer.name() + "]",
                     "an optimizer trains one model; got a second one: make a new optimizer for it");
  }
  owner = model;
}

}  // namespace mezzo::detail
