#include <mezzo/compiler/packed_constants.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include <mezzo/core/fork.hpp>

namespace mezzo::detail {
namespace {

/// Never destroyed, since plans in static variables may be destroyed later than other statics.
struct PackedRegistry {
  ForkMutex mutex;
  std::map<std::string, std::weak_ptr<const PackedConstant>> entries;
};

PackedRegistry& packed_registry() {
  static auto* const one = new PackedRegistry;
  return *one;
}

/// The entry of a key; null if there is none. The caller holds the mutex.
std::shared_ptr<const PackedConstant> find_packed(const PackedRegistry& all, const std::string& key) {
  const auto found = all.entries.find(key);
  return found == all.entries.end() ? nullptr : found->second.lock();
}

}  // namespace

std::shared_ptr<const PackedConstant> packed_constant(const Tensor& numbers, const std::string& layout,
                                                      std::size_t bytes, const std::function<void(void* to)>& pack) {
  const std::string key = fmt::format("{} {} {} {}", numbers.raw(), numbers.describe(), layout, bytes);
  PackedRegistry& all = packed_registry();
  {
    const std::lock_guard<std::mutex> lock(all.mutex);
    if (auto entry = find_packed(all, key)) return entry;
  }
  // Without the lock, since packing may use other threads.
  Tensor packed = Tensor::uninitialized({static_cast<std::int64_t>(bytes)}, DType::uint8);
  pack(packed.mutable_raw());
  auto made = std::make_shared<const PackedConstant>(PackedConstant{numbers, std::move(packed)});
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (auto entry = find_packed(all, key)) return entry;
  for (auto entry = all.entries.begin(); entry != all.entries.end();) {
    entry = entry->second.expired() ? all.entries.erase(entry) : std::next(entry);
  }
  all.entries[key] = made;
  return made;
}

std::size_t packed_constant_count() {
  PackedRegistry& all = packed_registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  return static_cast<std::size_t>(
      std::count_if(all.entries.begin(), all.entries.end(), [](const auto& entry) { return !entry.second.expired(); }));
}

}  // namespace mezzo::detail
