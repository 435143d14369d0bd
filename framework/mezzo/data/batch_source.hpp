#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <mezzo/data/loader.hpp>

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

// Which samples make up which batch of an epoch, and how to read one. Any thread may load any batch.
class BatchPlan {
 public:
  BatchPlan(std::shared_ptr<const DatasetSource> source, std::shared_ptr<BatchPool> pool,
            std::vector<std::int64_t> order, std::int64_t batch_size, std::int64_t epoch)
      : source_(std::move(source)),
        pool_(std::move(pool)),
        order_(std::move(order)),
        batch_size_(batch_size),
        epoch_(epoch) {}

  HostBatch load(std::int64_t batch) const;

 private:
  std::shared_ptr<const DatasetSource> source_;
  std::shared_ptr<BatchPool> pool_;
  std::vector<std::int64_t> order_;
  std::int64_t batch_size_;
  std::int64_t epoch_;
};

// Loads batches [first, end) on the caller's thread (workers 0) or on threads of its own. After next() has thrown, the
// source may only be destroyed.
std::unique_ptr<BatchStream::Source> make_batch_source(BatchPlan plan, std::int64_t first, std::int64_t end,
                                                       int workers, int prefetch);

}  // namespace mezzo::detail

namespace mezzo {

class BatchStream::Source {
 public:
  virtual ~Source() = default;
  virtual std::optional<HostBatch> next() = 0;
};

}  // namespace mezzo
