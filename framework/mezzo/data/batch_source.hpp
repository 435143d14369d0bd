#pragma once
#include <cstdint>
#include <memory>
#include <optional>

#include <mezzo/data/batch_reader.hpp>
#include <mezzo/data/batch_stream.hpp>

namespace mezzo {

/// Sequence of batches. After a call has thrown, the source must not be used any more.
class detail::BatchStream::Source {
 public:
  virtual ~Source() = default;

  /// The next batch; nullopt after the last one.
  virtual std::optional<HostBatch> next() = 0;

  /// The next batch without taking it; null after the last one.
  virtual const HostBatch* peek() = 0;
};

namespace detail {

/// Batches of a loader, over as many epochs as needed. Takes an idle reader of the loader and returns it at the end.
class LoaderSource : public BatchStream::Source {
 public:
  /// `follows_seed`: later epochs take the seed of seed_everything() at their start.
  LoaderSource(std::shared_ptr<IdleReaders> idle, const BatchPosition& start, std::int64_t count, bool follows_seed);
  LoaderSource(const LoaderSource&) = delete;
  LoaderSource& operator=(const LoaderSource&) = delete;
  ~LoaderSource() override;

  std::optional<HostBatch> next() override;
  const HostBatch* peek() override;

 private:
  void take_new_seed();
  /// Counts skipped samples of the running pass. Warns of the loader's first skipped sample.
  void note_skipped(std::int64_t samples);
  /// Warns of the number of skipped samples of a pass that has ended.
  void tell_of_skipped();

  std::shared_ptr<IdleReaders> idle_;
  std::unique_ptr<BatchReader> reader_;  // null after the last batch
  std::int64_t first_epoch_;
  std::int64_t skipped_ = 0;  // samples of the running pass
  bool follows_seed_, failed_ = false;
};

}  // namespace detail
}  // namespace mezzo
