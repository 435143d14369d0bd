#include <mezzo/report/report_batch.hpp>

#include <mezzo/core/error.hpp>

namespace mezzo {
namespace {

HostBatch first_batch(const DataLoader& loader) {
  if (loader.empty()) throw ValueError("[ReportBatch] the loader has no batches");
  return *loader.epoch(0).next();
}

DataLoader all_samples(const Tensor& x, const Tensor& y) {
  const Dataset data = Dataset::from_tensors({{"x", x, Role::input}, {"y", y, Role::target}});
  return data.size() == 0 ? DataLoader() : DataLoader(data, {.batch_size = data.size(), .workers = 0});
}

}  // namespace

ReportBatch::ReportBatch(HostBatch batch) : batch_(std::move(batch)) {}
ReportBatch::ReportBatch(const DataLoader& loader) : batch_(first_batch(loader)) {}
ReportBatch::ReportBatch(const Tensor& x, const Tensor& y) : ReportBatch(all_samples(x, y)) {}

}  // namespace mezzo
