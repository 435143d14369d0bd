#pragma once
#include <mezzo/data/loader.hpp>

namespace mezzo {

/// What a report measures on: a batch, the first one of a loader, or arrays as model.fit takes them, `{x, y}`.
class ReportBatch {
 public:
  ReportBatch(HostBatch batch);

  /// A ValueError if it is absent.
  ReportBatch(const DataLoader& loader);

  /// All samples as one batch; a ShapeError if their numbers differ.
  ReportBatch(const Tensor& x, const Tensor& y);

  const HostBatch& batch() const { return batch_; }

 private:
  HostBatch batch_;
};

}  // namespace mezzo
