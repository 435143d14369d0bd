#pragma once
#include <map>
#include <string>
#include <vector>

namespace mezzo {

/// What fit returns: the epochs that ran, the training's first one being 0, and for each name ("loss", "val_loss") one
/// number per epoch.
struct History {
  std::vector<int> epoch{};
  std::map<std::string, std::vector<double>> history{};
};

}  // namespace mezzo
