#pragma once
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>

#include <mezzo/data/dataset.hpp>

namespace mezzo {

namespace detail {
class BatchPool;
}

struct DataLoaderOptions {
  /// Samples per batch, 1 or more.
  std::int64_t batch_size = 32;
  /// Whether each epoch has an order of its own; otherwise the data set's.
  bool shuffle = false;
  /// Whether a last batch of fewer samples is left out.
  bool drop_last = false;
  /// Threads that load batches in the background; 0 loads on the caller's.
  int workers = 1;
  /// Batches that each worker may be ahead of the caller, 1 or more.
  int prefetch = 2;
  /// Seed of the order; -1 follows seed_everything().
  std::int64_t seed = -1;
};

/// The batches of one epoch, in order. Belongs to one thread; destroying it before its end stops the workers.
class BatchStream {
 public:
  class Source;

  explicit BatchStream(std::unique_ptr<Source> source);
  BatchStream(BatchStream&&) noexcept;
  BatchStream& operator=(BatchStream&&) noexcept;
  ~BatchStream();

  /// The next batch; nothing after the last. An exception from the data set comes out here in its batch's place and
  /// ends the epoch: its type among mezzo's is kept, its text says `[DataLoader] sample 17: ...`, the index being
  /// that in the loader's data set. Further calls throw it again.
  std::optional<HostBatch> next();

 private:
  std::unique_ptr<Source> source_;
  std::exception_ptr failure_;
};

/// Cuts a data set into batches. The order of epoch n depends on (seed, n) and the number of samples alone, so it is
/// the same for any number of workers and after a resume. A copy shares the data set.
class DataLoader {
 public:
  /// The absent loader: no data set, no batches.
  DataLoader() = default;

  /// A ValueError if the data set is empty or an option is out of its range.
  explicit DataLoader(Dataset dataset, DataLoaderOptions options = {});

  /// Whether this is the absent loader.
  bool empty() const { return size_ == 0; }

  /// Batches per epoch.
  std::int64_t size() const { return size_; }

  const Dataset& dataset() const { return dataset_; }
  const DataLoaderOptions& options() const { return options_; }

  /// The batches of epoch `epoch` (from 0 on), from batch `first_batch` on. A ValueError if the loader is absent, the
  /// epoch negative or first_batch not in [0, size()].
  BatchStream epoch(std::int64_t epoch, std::int64_t first_batch = 0) const;

 private:
  Dataset dataset_;
  DataLoaderOptions options_;
  std::int64_t size_ = 0;
  std::shared_ptr<detail::BatchPool> pool_;
};

}  // namespace mezzo
