#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <mezzo/data/batch_source.hpp>
#include <mezzo/data/combined_loader.hpp>

namespace mezzo::detail {

/// Batches of a CombinedLoader from a position on, at most `count`, over as many epochs as needed.
class CombinedSource : public BatchStream::Source {
 public:
  using BatchFunction = std::function<HostBatch(HostBatch batch, std::int64_t index, std::int64_t epoch)>;

  CombinedSource(std::shared_ptr<const CombinedLoader> combined, BatchFunction function, const LoaderPosition& from,
                 std::int64_t count);

  std::optional<HostBatch> next() override;
  const HostBatch* peek() override;

 private:
  /// Batch of a loader within a combined one.
  struct Turn {
    std::int64_t epoch = 0, batch = 0;  ///< of that loader
    std::int64_t left = 0;              ///< number of its batches that follow in the same epoch of both loaders, this
                                        ///< one included
  };
  std::optional<Turn> turn_of(std::size_t loader) const;
  /// Stream of a loader, at that turn.
  BatchStream& stream_of(std::size_t loader, const Turn& turn);
  void add(const HostBatch& part, std::size_t loader, HostBatch& whole) const;
  HostBatch mapped(HostBatch whole) const;

  std::shared_ptr<const CombinedLoader> combined_;
  BatchFunction function_;
  std::int64_t size_, epoch_, batch_, left_;  // left_: batches that next() has yet to return
  struct Opened {
    BatchStream stream;
    std::int64_t epoch;
  };
  std::vector<std::optional<Opened>> streams_;  // by loader
  std::optional<HostBatch> peeked_;
};

}  // namespace mezzo::detail
