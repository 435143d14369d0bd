#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

#include <mezzo/data/batch.hpp>

namespace mezzo::detail {

/// A lock of the mutex, or none if it stays locked: after fork() its owner may not exist in the child.
std::unique_lock<std::mutex> lock_soon(std::mutex& mutex);

/// Batches whose storage is reused after the consumer has destroyed all copies of them. Writing to new pages takes
/// longer than copying into used ones.
class BatchPool {
 public:
  explicit BatchPool(std::size_t capacity) : capacity_(capacity) {}

  /// Returns an unused batch of `samples` samples, or an empty one if there is none.
  HostBatch take(std::int64_t samples);

  /// Keeps the storage of a batch for reuse.
  void remember(const HostBatch& batch);

 private:
  std::size_t capacity_;
  std::mutex mutex_;
  std::deque<HostBatch> kept_;
};

}  // namespace mezzo::detail
