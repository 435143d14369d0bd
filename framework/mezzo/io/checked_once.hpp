#pragma once
#include <mutex>
#include <set>

namespace mezzo::detail {

/// Parts of an open file whose checksum was compared, so that each is compared once. Thread-safe.
class CheckedOnce {
 public:
  /// Calls `compare`, which throws if the part is damaged, unless it returned for that part before.
  template <class Compare>
  void check(const void* part, const Compare& compare) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (done_.count(part) > 0) return;
    }
    compare();
    const std::lock_guard<std::mutex> lock(mutex_);
    done_.insert(part);
  }

 private:
  std::mutex mutex_;
  std::set<const void*> done_;
};

}  // namespace mezzo::detail
