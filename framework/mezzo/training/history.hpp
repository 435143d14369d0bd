#pragma once
#include <vector>

#include <mezzo/core/names.hpp>

namespace mezzo {

/// Result of fit: one number per epoch for each logged name.
struct History {
  std::vector<int> epoch{};                ///< epochs that ran; the first of a training is 0
  NameMap<std::vector<double>> history{};  ///< "loss", "val_loss", ...: a number for each of `epoch`
};

}  // namespace mezzo
