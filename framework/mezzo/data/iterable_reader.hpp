#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include <mezzo/data/batch_source.hpp>
#include <mezzo/data/batch_workers.hpp>
#include <mezzo/data/iterable_dataset.hpp>
#include <mezzo/data/loader_options.hpp>

namespace mezzo::detail {

/// Settings for a loader's batches of an iterable data set.
struct IterableBatching {
  IterableDataset data;
  DataLoaderOptions options;
  std::function<HostBatch(HostBatch, std::int64_t, std::int64_t)> function;
};

/// One epoch of an iterable data set. Its parts produce batches in turn, on one thread each or on the caller's thread.
/// After a call has thrown, the reader must not be used any more.
class IterableReader {
 public:
  IterableReader(std::shared_ptr<const IterableBatching> batching, std::int64_t epoch);
  IterableReader(const IterableReader&) = delete;
  IterableReader& operator=(const IterableReader&) = delete;
  ~IterableReader();

  std::int64_t epoch() const { return epoch_; }

  /// Samples that next() has returned.
  std::int64_t samples() const { return samples_; }

  /// The next batch; nullopt after the last one. An Error in a child process: the threads are in its parent.
  std::optional<HostBatch> next();
  const HostBatch* peek();

  /// Reads until `samples` samples are taken. A batch that has more is cut.
  void skip(std::int64_t samples);

  void pause();
  void go_on();

 private:
  /// Samples made batch by batch, by one thread at a time.
  struct Part {
    SampleGenerator generator;
    std::mutex mutex;
    std::condition_variable turn;
    std::int64_t next = 0;  // batch
    bool ended = false;
  };

  HostBatch load(std::int64_t number);
  HostBatch read(Part& part, std::int64_t number) const;
  void fill();

  std::shared_ptr<const IterableBatching> batching_;
  std::int64_t epoch_, samples_ = 0;
  std::deque<Part> parts_;
  std::int64_t loaded_ = 0;  // numbers of batches that were taken from the parts
  std::int64_t empty_ = 0;   // successive numbers without a batch
  std::optional<HostBatch> peeked_;
  int depth_;
  std::unique_ptr<BatchWorkers> threads_;
};

/// Reader of a loader between two streams. Thread-safe.
class IdleIterable {
 public:
  explicit IdleIterable(std::shared_ptr<const IterableBatching> batching) : batching_(std::move(batching)) {}

  const IterableBatching& batching() const { return *batching_; }

  /// A reader at that position: an idle reader that stopped there, or a new one that reads and drops the samples before
  /// the position.
  std::unique_ptr<IterableReader> take(const LoaderPosition& from);
  void keep(std::unique_ptr<IterableReader> reader);

 private:
  std::shared_ptr<const IterableBatching> batching_;
  std::mutex mutex_;
  std::unique_ptr<IterableReader> kept_;
};

/// Batches of an epoch of an iterable data set, at most `count`.
class IterableSource : public BatchStream::Source {
 public:
  IterableSource(std::shared_ptr<IdleIterable> idle, const LoaderPosition& from, std::int64_t count);
  IterableSource(const IterableSource&) = delete;
  IterableSource& operator=(const IterableSource&) = delete;
  ~IterableSource() override;

  std::optional<HostBatch> next() override;
  const HostBatch* peek() override;

 private:
  std::shared_ptr<IdleIterable> idle_;
  std::unique_ptr<IterableReader> reader_;
  std::int64_t left_;
  bool failed_ = false;
};

}  // namespace mezzo::detail
