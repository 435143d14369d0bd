#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>

#include <mezzo/data/batch.hpp>

namespace mezzo::detail {

// Batches whose storage is filled again once the consumer has dropped every copy of them: touching fresh pages costs
// more than copying into old ones.
class BatchPool {
 public:
  explicit BatchPool(std::size_t capacity) : capacity_(capacity) {}

  // A batch to fill: one of `samples` samples that nobody holds any more, else an empty one.
  HostBatch take(std::int64_t samples);

  // Remembers the storage of a batch that is about to be handed out.
  void remember(const HostBatch& batch);

 private:
  std::size_t capacity_;
  std::mutex mutex_;
  std::deque<HostBatch> kept_;
};

}  // namespace mezzo::detail
