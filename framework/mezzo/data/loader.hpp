#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/data/batch_stream.hpp>
#include <mezzo/data/dataset.hpp>
#include <mezzo/data/iterable_dataset.hpp>
#include <mezzo/data/loader_options.hpp>
#include <mezzo/data/sampler.hpp>

namespace mezzo {

namespace detail {
class IdleIterable;
class IdleReaders;
class CombinedSource;
}  // namespace detail

class CombinedLoader;

namespace detail {
/// Everything that the meaning of a LoaderPosition depends on.
struct MEZZO_API LoaderFingerprint {
  std::int64_t samples = 0;     ///< samples of the data set; 0 for an iterable one
  std::string fields{};         ///< names, dtypes and shapes: "x float32 (28, 28), y int64 ()"
  std::string order{};          ///< sampler and seed
  std::int64_t batch_size = 0;  ///< samples of a batch
  bool drop_last = false;       ///< true if a smaller last batch is left out

  /// Differences of the other one: "batch_size 32, was 64"; "" if both are equal. With `by_samples` batch_size and
  /// drop_last may differ.
  std::string differences(const LoaderFingerprint& before, bool by_samples = false) const;
};
}  // namespace detail

/// Divides a data set into batches. The order of epoch n depends only on the sampler, the seed and n: it is the same
/// for any number of workers and after a resume. Copies share the data set, the threads and the batches that these have
/// read ahead.
class MEZZO_API DataLoader {
 public:
  /// An absent loader, without data set and batches.
  DataLoader() = default;

  /// Throws a ValueError if the data set is empty, an option is out of its range, options exclude each other, or
  /// drop_last leaves no batch.
  explicit DataLoader(Dataset dataset, DataLoaderOptions options = {});

  /// Batches of an iterable data set. With several workers, worker i makes batches of part i of the samples, and they
  /// are taken in turn. Throws a ValueError for shuffle, sampler and group_by_length, for several workers and a data
  /// set without parts, or if an option is out of its range.
  explicit DataLoader(IterableDataset data, DataLoaderOptions options = {});

  /// Batches of several loaders at the same time. options() are the defaults, dataset() is empty.
  DataLoader(const CombinedLoader& loaders);

  /// True for an absent loader.
  bool empty() const { return !idle_ && !iterable_ && !combined_; }

  /// False if the number of batches isn't known, as of an iterable data set.
  bool sized() const { return !iterable_; }

  /// Batches per epoch. A ValueError unless sized().
  std::int64_t size() const;

  /// Samples per epoch; those that drop_last leaves out are counted. For a CombinedLoader, the sum of its loaders. A
  /// ValueError unless sized().
  std::int64_t samples() const;

  /// The data set; one without samples and fields for an iterable one.
  const Dataset& dataset() const { return dataset_; }

  /// The loaders that this one combines, or null.
  const CombinedLoader* combination() const { return combined_.get(); }

  /// Samples that `on_error = "skip"` has left out in all passes so far. Copies share the count. 0 for an absent loader
  /// and an iterable data set; for a CombinedLoader, the sum of its loaders.
  std::int64_t skipped_samples() const;

  /// The options given to the constructor.
  const DataLoaderOptions& options() const { return options_; }

  /// A loader whose batches are function(batch, index, epoch) of this one's; index is the number of the batch in the
  /// epoch. The workers call it, several at the same time. It may change values, shapes and dtypes of the fields, not
  /// their names and the number of samples: a ValueError when the batch is due. A ValueError for an absent loader.
  DataLoader map(std::function<HostBatch(HostBatch batch, std::int64_t index, std::int64_t epoch)> function) const;

  /// The same options and functions for another data set. A ValueError unless sized(), and for a CombinedLoader. Other
  /// errors are those of the constructor; with a sampler also a ValueError for a data set of another size.
  DataLoader with_dataset(Dataset dataset) const;

  /// The same loader with another number of samples per batch. A ValueError unless sized(), for a CombinedLoader, and
  /// those of the constructor.
  DataLoader with_batch_size(std::int64_t batch_size) const;

  /// The part of one of several ranks: its batches have batch_size samples, those of all ranks together ranks *
  /// batch_size, which become the batch_size of the result. A joined batch is divided into blocks of equal size, or one
  /// less for the last ranks. HostBatch::part is the place. A rank without samples in a last batch receives one of
  /// another rank. A ValueError unless sized(), for a part of a part, for group_by_length, and if rank isn't in [0,
  /// ranks).
  DataLoader part(std::int64_t rank, std::int64_t ranks) const;

  /// Starts epoch `epoch` (0 or more) at batch `first_batch`. Throws a ValueError if the loader is absent, the epoch is
  /// negative or first_batch is not in [0, size()]. An iterable data set reads and drops the batches before
  /// first_batch.
  detail::BatchStream epoch(std::int64_t epoch, std::int64_t first_batch = 0) const;

  /// The next `count` batches from a position on, over as many epochs as needed. Workers start the next epoch while the
  /// last batches of the previous one are used, and read no more than these batches. If batch_size doesn't divide
  /// `samples`, the first batch is the rest of a batch. A ValueError if the loader is absent, count is negative, or the
  /// position is not in [0, samples()) (for a CombinedLoader: in [0, size()) batches). For an iterable data set the
  /// stream ends with the epoch, and the samples before the position are read and dropped, unless the last stream has
  /// stopped there.
  detail::BatchStream stream(const detail::LoaderPosition& from, std::int64_t count) const;

  /// For a checkpoint, with the LoaderPosition. A ValueError for an absent loader.
  detail::LoaderFingerprint fingerprint() const;

 private:
  friend class detail::CombinedSource;

  /// `count` batches of an epoch.
  detail::BatchStream pass(std::int64_t epoch, std::int64_t first_batch, std::int64_t count) const;
  void require_single(const char* where) const;
  void require_data(const char* where) const;
  void require_size(const char* where) const;
  std::uint64_t order_seed() const;
  void renew_readers();
  /// Takes over the functions of map() and the part of another loader.
  DataLoader& with_functions_of(const DataLoader& other);

  Dataset dataset_;
  DataLoaderOptions options_;
  std::int64_t size_ = 0, samples_ = 0;
  std::int64_t rank_ = 0, ranks_ = 1;  // of part()
  std::shared_ptr<detail::IdleReaders> idle_;
  std::shared_ptr<detail::IdleIterable> iterable_;  // null unless the data set is iterable
  std::shared_ptr<const CombinedLoader> combined_;  // null unless made from one
  std::function<HostBatch(HostBatch, std::int64_t, std::int64_t)> function_;
};

}  // namespace mezzo
