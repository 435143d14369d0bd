#pragma once
#include <cstddef>
#include <initializer_list>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/loader.hpp>

namespace mezzo {

/// The loaders of a validation, test or prediction, which are run one after the other: one loader, or a list,
/// `{val_a, val_b}`.
class MEZZO_API DataLoaders {
 public:
  DataLoaders() = default;
  /// None for an absent loader, those of a CombinedLoader in mode "sequential".
  DataLoaders(const DataLoader& loader);
  /// A ValueError for an absent loader in the list.
  DataLoaders(std::vector<DataLoader> loaders);
  DataLoaders(std::initializer_list<DataLoader> loaders) : DataLoaders(std::vector<DataLoader>(loaders)) {}

  bool empty() const { return loaders_.empty(); }       ///< true: no loader was given
  std::size_t size() const { return loaders_.size(); }  ///< number of loaders

  /// Loader at position i from 0, which isn't checked.
  const DataLoader& operator[](std::size_t i) const { return loaders_[i]; }
  std::vector<DataLoader>::const_iterator begin() const { return loaders_.begin(); }
  std::vector<DataLoader>::const_iterator end() const { return loaders_.end(); }

 private:
  std::vector<DataLoader> loaders_;
};

}  // namespace mezzo
