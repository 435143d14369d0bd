#pragma once
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/loader.hpp>

namespace mezzo {

struct CombinedLoaderOptions {
  /// Number of batches of an epoch, as in Lightning. "min_size": of the shortest loader. "max_size_cycle": of the
  /// longest one; the others begin again, each time with their next epoch. "max_size": of the longest one; batches
  /// after the end of a loader don't have its fields. "sequential": of all loaders, one after the other, with the field
  /// names of each loader; validate, test and predict run them as a list of loaders; an error in fit.
  std::string mode = "min_size";
};

/// Several loaders whose batches come together, as Lightning's class:
/// `trainer.fit(module, CombinedLoader({{"labeled", a}, {"unlabeled", b}}, {.mode = "max_size_cycle"}))`. A field "x"
/// of the loader "labeled" has the name "labeled/x"; a step reads `batch["labeled/x"]` or `batch.part("labeled")["x"]`.
/// Batches may differ in size between loaders: the size of the whole is that of its first loader.
class MEZZO_API CombinedLoader {
 public:
  using Entry = std::pair<std::string, DataLoader>;  ///< name and loader

  /// A NameError for an unknown mode and for equal or empty names. A ValueError for no loader, an absent one, and one
  /// whose number of batches isn't known.
  CombinedLoader(std::vector<Entry> loaders, CombinedLoaderOptions options = {});
  CombinedLoader(std::initializer_list<Entry> loaders, CombinedLoaderOptions options = {})
      : CombinedLoader(std::vector<Entry>(loaders), std::move(options)) {}

  /// Loaders with the names "0", "1", ...
  CombinedLoader(const std::vector<DataLoader>& loaders, CombinedLoaderOptions options = {});

  const std::vector<Entry>& loaders() const { return loaders_; }  ///< in the order of the constructor
  const std::string& mode() const { return options_.mode; }       ///< CombinedLoaderOptions::mode

  /// Batches of an epoch.
  std::int64_t size() const;

 private:
  std::vector<Entry> loaders_;
  CombinedLoaderOptions options_;
};

}  // namespace mezzo
