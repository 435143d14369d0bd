#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <mezzo/data/batch_workers.hpp>
#include <mezzo/data/batching.hpp>

namespace mezzo::detail {

/// Reads successive batches on the caller's thread (workers 0) or on threads of its own. After fork() the child has
/// none of these threads and starts its own. After next() or peek() has thrown, the reader must not be used any more.
class BatchReader {
 public:
  BatchReader(std::shared_ptr<const Batching> batching, int workers, int prefetch)
      : batching_(std::move(batching)), workers_(workers), prefetch_(prefetch) {}
  BatchReader(const BatchReader&) = delete;
  BatchReader& operator=(const BatchReader&) = delete;
  ~BatchReader() { leave_to_parent(); }

  /// Reads `count` batches from a position on. Drops batches that were read ahead.
  void run(const BatchPosition& start, std::int64_t count);

  /// Reads `count` more batches from next_position() on, after pause().
  void go_on(std::int64_t count);

  /// Returns when no thread reads. Batches that were read ahead stay.
  void pause();

  /// True if nothing was read ahead; false after an error, too. The reader must pause.
  bool spent() const;

  /// True if a batch that was read ahead is an error. The reader must pause.
  bool failed() const { return threads_ != nullptr && threads_->failed(); }

  /// Position of the batch that next() returns.
  BatchPosition next_position() const { return batching_->after(start_, loaded_ - (peeked_ ? 1 : 0)); }

  /// Batches that next() has yet to return.
  std::int64_t left() const { return end_ - loaded_ + (peeked_ ? 1 : 0); }

  /// The next batch without taking it; null after the last one.
  const HostBatch* peek();

  /// The next batch; nullopt after the last one.
  std::optional<HostBatch> next();

 private:
  HostBatch load();
  void start_threads();

  /// Drops the threads of a parent process, which can't be joined here.
  void leave_to_parent();

  std::shared_ptr<const Batching> batching_;
  int workers_, prefetch_;
  BatchPosition start_;      // of batch 0
  std::int64_t loaded_ = 0;  // batches that were loaded or taken from the threads
  std::int64_t end_ = 0;
  std::optional<HostBatch> peeked_;
  int depth_ = 0;  // fork_depth() when the threads were started
  std::unique_ptr<BatchWorkers> threads_;
};

/// Readers of a loader between two streams: their threads, and batches that were read ahead. Thread-safe.
class IdleReaders {
 public:
  IdleReaders(std::shared_ptr<const Batching> batching, int workers, int prefetch)
      : batching_(std::move(batching)), workers_(workers), prefetch_(prefetch) {
    kept_.reserve(most_kept);
  }

  const Batching& batching() const { return *batching_; }

  /// A reader of `count` batches from a position on: if possible an idle reader that stopped there.
  std::unique_ptr<BatchReader> take(const BatchPosition& start, std::int64_t count);

  /// Keeps a reader for further streams.
  void keep(std::unique_ptr<BatchReader> reader);

 private:
  static constexpr std::size_t most_kept = 2;  // training and validation may share a loader

  std::shared_ptr<const Batching> batching_;
  int workers_, prefetch_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<BatchReader>> kept_;
};

}  // namespace mezzo::detail
