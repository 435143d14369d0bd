#include <mezzo/data/combined_loader.hpp>

#include <algorithm>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/held.hpp>

namespace mezzo {
namespace {

std::vector<CombinedLoader::Entry> numbered(const std::vector<DataLoader>& loaders) {
  std::vector<CombinedLoader::Entry> out;
  for (const DataLoader& loader : loaders) out.emplace_back(fmt::to_string(out.size()), loader);
  return out;
}

}  // namespace

CombinedLoader::CombinedLoader(std::vector<Entry> loaders, CombinedLoaderOptions options)
    : loaders_(std::move(loaders)), options_(std::move(options)) {
  const char* const where = "[CombinedLoader]";
  const std::vector<std::string> modes{"min_size", "max_size_cycle", "max_size", "sequential"};
  if (std::find(modes.begin(), modes.end(), options_.mode) == modes.end()) {
    fail_unknown(where, "mode", options_.mode, modes);
  }
  if (loaders_.empty()) fail<ValueError>(where, "there must be a loader; got none");
  std::set<std::string> names;
  for (const auto& [name, loader] : loaders_) {
    if (name.empty() || !names.insert(name).second) {
      fail<NameError>(where, "names must differ and not be empty; got \"{}\"", name);
    }
    if (loader.empty()) fail<ValueError>(where, "loader \"{}\" must have data; got an absent one", name);
    if (!loader.sized()) {
      fail<ValueError>(where, "loader \"{}\" must have a data set of known size; got an iterable one", name);
    }
  }
}

CombinedLoader::CombinedLoader(const std::vector<DataLoader>& loaders, CombinedLoaderOptions options)
    : CombinedLoader(numbered(loaders), std::move(options)) {}

std::int64_t CombinedLoader::size() const {
  if (loaders_.empty()) detail::fail_moved(typeid(CombinedLoader));
  std::int64_t least = loaders_.front().second.size(), most = 0, sum = 0;
  for (const auto& entry : loaders_) {
    const std::int64_t size = entry.second.size();
    least = std::min(least, size);
    most = std::max(most, size);
    sum += size;
  }
  if (mode() == "sequential") return sum;
  return mode() == "min_size" ? least : most;
}

}  // namespace mezzo
