#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <mezzo/data/loader.hpp>

namespace mezzo::detail {

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
  /// A lock of the mutex, or none if it stays locked: after fork() its owner may not exist in the child.
  std::unique_lock<std::mutex> lock_soon();

  std::size_t capacity_;
  std::mutex mutex_;
  std::deque<HostBatch> kept_;
};

/// The samples of each batch of an epoch. Thread-safe.
class BatchPlan {
 public:
  using BatchFunction = std::function<HostBatch(HostBatch batch, std::int64_t index, std::int64_t epoch)>;

  BatchPlan(std::shared_ptr<const DatasetSource> source, std::shared_ptr<BatchPool> pool,
            std::vector<std::int64_t> order, std::int64_t batch_size, std::int64_t epoch, BatchFunction function)
      : source_(std::move(source)),
        pool_(std::move(pool)),
        order_(std::move(order)),
        batch_size_(batch_size),
        epoch_(epoch),
        function_(std::move(function)) {}

  /// Reads one batch.
  HostBatch load(std::int64_t batch) const;

 private:
  HostBatch mapped(HostBatch batch, std::int64_t index) const;

  std::shared_ptr<const DatasetSource> source_;
  std::shared_ptr<BatchPool> pool_;
  std::vector<std::int64_t> order_;  // indices of the samples
  std::int64_t batch_size_;
  std::int64_t epoch_;
  BatchFunction function_;  // none: batches stay as they are
};

/// Returns a source that loads batches [first, end) on the caller's thread (workers 0) or on threads of its own. After
/// next() has thrown, the source must not be used any more.
std::unique_ptr<BatchStream::Source> make_batch_source(BatchPlan plan, std::int64_t first, std::int64_t end,
                                                       int workers, int prefetch);

}  // namespace mezzo::detail

namespace mezzo {

/// Sequence of batches.
class BatchStream::Source {
 public:
  virtual ~Source() = default;

  /// The next batch; nullopt after the last one.
  virtual std::optional<HostBatch> next() = 0;
};

}  // namespace mezzo
