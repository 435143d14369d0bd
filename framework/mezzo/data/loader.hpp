#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/data/dataset.hpp>

namespace mezzo {

namespace detail {
class BatchPool;
}

struct DataLoaderOptions {
  /// Samples per batch, 1 or more.
  std::int64_t batch_size = 32;
  /// True: each epoch has a random order of its own. False: the order of the data set.
  bool shuffle = false;
  /// Drops the last batch if it has fewer samples than batch_size.
  bool drop_last = false;
  /// Number of background threads that load batches. 0: the caller's thread loads them.
  int workers = 1;
  /// Number of batches that each worker may load ahead, 1 or more.
  int prefetch = 2;
  /// Seed of the order. -1: the seed of seed_everything().
  std::int64_t seed = -1;
};

/// The batches of one epoch, in order. Not thread-safe. Destruction before the end stops the workers.
class MEZZO_API BatchStream {
 public:
  class Source;

  explicit BatchStream(std::unique_ptr<Source> source);
  BatchStream(BatchStream&&) noexcept;
  BatchStream& operator=(BatchStream&&) noexcept;
  ~BatchStream();

  /// Returns the next batch; nullopt after the last one. Throws an exception of the data set when its batch is due,
  /// which ends the epoch; further calls throw it again. Its type is kept if it is one of mezzo's, otherwise it becomes
  /// an Error. Its text starts with `[DataLoader] sample 17: `, where 17 is the index in the loader's data set.
  std::optional<HostBatch> next();

 private:
  std::unique_ptr<Source> source_;
  std::exception_ptr failure_;
};

/// Divides a data set into batches. The order of epoch n depends on the seed, n and the number of samples alone: it is
/// the same for any number of workers and after a resume. Copies share the data set.
class MEZZO_API DataLoader {
 public:
  /// An absent loader, without data set and batches.
  DataLoader() = default;

  /// Throws a ValueError if the data set is empty, an option is out of its range, or drop_last leaves no batch.
  explicit DataLoader(Dataset dataset, DataLoaderOptions options = {});

  /// True for an absent loader.
  bool empty() const { return size_ == 0; }

  /// Batches per epoch.
  std::int64_t size() const { return size_; }

  /// The data set.
  const Dataset& dataset() const { return dataset_; }

  /// The options given to the constructor.
  const DataLoaderOptions& options() const { return options_; }

  /// A loader whose batches are function(batch, index, epoch) of this one's; index is the number of the batch in the
  /// epoch. The workers call it, several at the same time. It may change values, shapes and dtypes of the fields, not
  /// their names and the number of samples: a ValueError when the batch is due. A ValueError for an absent loader.
  DataLoader map(std::function<HostBatch(HostBatch batch, std::int64_t index, std::int64_t epoch)> function) const;

  /// The same options and functions for another data set. Errors are those of the constructor.
  DataLoader with_dataset(Dataset dataset) const;

  /// Starts epoch `epoch` (0 or more) at batch `first_batch`. Throws a ValueError if the loader is absent, the epoch is
  /// negative or first_batch is not in [0, size()].
  BatchStream epoch(std::int64_t epoch, std::int64_t first_batch = 0) const;

 private:
  Dataset dataset_;
  DataLoaderOptions options_;
  std::int64_t size_ = 0;
  std::shared_ptr<detail::BatchPool> pool_;
  std::function<HostBatch(HostBatch, std::int64_t, std::int64_t)> function_;
};

}  // namespace mezzo
