#include <mezzo/data/loaders.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/data/combined_loader.hpp>

namespace mezzo {

DataLoaders::DataLoaders(const DataLoader& loader) {
  const CombinedLoader* const combined = loader.combination();
  if (combined != nullptr && combined->mode() == "sequential") {
    for (const auto& entry : combined->loaders()) loaders_.push_back(entry.second);
  } else if (!loader.empty()) {
    loaders_.push_back(loader);
  }
}

DataLoaders::DataLoaders(std::vector<DataLoader> loaders) : loaders_(std::move(loaders)) {
  const auto absent = std::find_if(loaders_.begin(), loaders_.end(), [](const DataLoader& one) { return one.empty(); });
  if (absent == loaders_.end()) return;
  fail<ValueError>("[DataLoaders]", "the loaders of a list must have data; got an absent one at index {}",
                   absent - loaders_.begin());
}

}  // namespace mezzo
