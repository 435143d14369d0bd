#include <mezzo/report/report_batch.hpp>

#include <mezzo/core/fail.hpp>

namespace mezzo {
namespace {

HostBatch first_batch(const DataLoader& loader) {
  if (loader.empty()) fail<ValueError>("[ReportBatch]", "the loader must have batches; got an absent loader");
  return *loader.epoch(0).next();
}

DataLoader all_samples(const Tensor& x, const Tensor& y) {
  const Dataset data = Dataset::from_tensors({{"x", x, Role::input}, {"y", y, Role::target}});
  if (data.size() == 0) fail<ValueError>("[ReportBatch]", "x must have samples; got shape {}", x.shape());
  return DataLoader(data, {.batch_size = data.size(), .workers = 0});
}

}  // namespace

detail::ReportBatch::ReportBatch(HostBatch batch) : batch_(std::move(batch)) {}
detail::ReportBatch::ReportBatch(const DataLoader& loader) : batch_(first_batch(loader)) {}
detail::ReportBatch::ReportBatch(const Tensor& x, const Tensor& y) : detail::ReportBatch(all_samples(x, y)) {}

}  // namespace mezzo
