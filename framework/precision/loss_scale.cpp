#include <mezzo/precision/loss_scale.hpp>

#include <algorithm>

namespace mezzo {

bool LossScale::update(bool finite) {
  if (finite) {
    if (++finite_steps_ < options_.growth_interval) return true;
    finite_steps_ = 0;
    scale_ = std::min(scale_ * options_.growth_factor, options_.cap);
    return true;
  }
  ++skipped_;
  finite_steps_ = 0;
  const bool room = scale_ > options_.floor;
  scale_ = std::max(scale_ * options_.backoff_factor, options_.floor);
  return room;
}

}  // namespace mezzo
