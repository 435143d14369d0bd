#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/data/loader.hpp>

namespace mezzo {

namespace detail {
/// Batch that precision_report() and suggest_policy() measure on. Made from a batch, from a loader, or from arrays as
/// Model::fit takes them: `{x, y}`.
class MEZZO_API ReportBatch {
 public:
  ReportBatch(HostBatch batch);

  /// Takes the first batch. A ValueError if the loader is absent.
  ReportBatch(const DataLoader& loader);

  /// Takes all samples as one batch. A ValueError if there are none, a ShapeError if the arrays differ in their number
  /// of samples.
  ReportBatch(const Tensor& x, const Tensor& y);

  const HostBatch& batch() const { return batch_; }

 private:
  HostBatch batch_;
};
}  // namespace detail

}  // namespace mezzo
