#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include <mezzo/data/batch_pool.hpp>
#include <mezzo/data/collate.hpp>
#include <mezzo/data/loader_options.hpp>

namespace mezzo::detail {

/// Place of a batch in the epochs of a loader.
struct BatchPosition {
  std::int64_t epoch = 0;
  std::int64_t batch = 0;
  std::int64_t skipped = 0;  ///< first samples of the batch that are left out
  std::uint64_t seed = 0;    ///< seed of the order

  friend bool operator==(const BatchPosition&, const BatchPosition&) = default;
};

/// Division of the samples of a loader into batches, and how a batch is read. Thread-safe.
class Batching {
 public:
  using BatchFunction = std::function<HostBatch(HostBatch batch, std::int64_t index, std::int64_t epoch)>;

  /// The options must have a sampler. A ValueError if they leave no batch. Reads only the block of `rank` among `ranks`
  /// of each batch.
  Batching(std::shared_ptr<const DatasetSource> source, const DataLoaderOptions& options, BatchFunction function,
           std::int64_t rank = 0, std::int64_t ranks = 1);

  /// Batches of an epoch.
  std::int64_t size() const { return size_; }

  /// The batch that has sample number `sample` of an epoch, which lies in [0, samples of an epoch).
  BatchPosition find(std::int64_t epoch, std::int64_t sample, std::uint64_t seed) const;

  /// The batch after `count` others.
  BatchPosition after(const BatchPosition& position, std::int64_t count) const;

  /// Samples that on_error = "skip" has left out.
  SkippedSamples& skipped_samples() const { return skipped_; }
  std::int64_t skipped() const { return skipped_.count(); }

  /// Reads a batch.
  HostBatch load(const BatchPosition& position) const;

 private:
  /// Samples of an epoch in the order of its batches.
  struct Layout {
    SampleOrder order;
    std::vector<std::int64_t> starts;  ///< first positions of all batches, and the end of the last one; empty if all
                                       ///< have batch_size
  };
  struct KeptLayout {
    std::int64_t epoch;
    std::uint64_t seed;
    std::shared_ptr<const Layout> layout;
  };
  std::shared_ptr<const Layout> layout(std::int64_t epoch, std::uint64_t seed) const;
  Layout make_layout(std::int64_t epoch, std::uint64_t seed) const;
  std::int64_t count_batches(std::int64_t samples) const;
  std::int64_t count_grouped() const;
  std::size_t bucket(std::int64_t index) const;
  std::vector<std::int64_t> indices(const BatchPosition& position) const;
  BatchPart part_of(std::int64_t samples) const;
  HostBatch read(const std::vector<std::int64_t>& samples, const BatchPosition& position) const;

  std::shared_ptr<const DatasetSource> source_;
  Any<Sampler> sampler_;
  std::int64_t batch_size_, samples_, size_ = 0;
  std::int64_t rank_, ranks_;
  bool drop_last_, grouped_, open_, skips_;
  BatchPadding padding_;
  std::function<HostBatch(const std::vector<DatasetSample>&)> collate_;
  BatchFunction function_;  // none: batches stay as they are
  mutable SkippedSamples skipped_;
  mutable BatchPool pool_;
  mutable std::mutex layouts_mutex_;
  mutable std::deque<KeptLayout> layouts_;  // of the last epochs
};

}  // namespace mezzo::detail
