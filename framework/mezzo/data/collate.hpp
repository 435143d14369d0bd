#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <mezzo/data/dataset_source.hpp>
#include <mezzo/data/skipped_samples.hpp>

namespace mezzo::detail {

/// Rules by which samples of different shapes become a batch.
struct BatchPadding {
  std::map<std::string, double> values{};  ///< by field; default: 0
  std::vector<std::int64_t> boundaries{};  ///< sizes of padded axes, ascending; none: the size of the longest sample
};

/// Number of the first boundary that is not less than `length`. A ValueError if there is none; `where` names the
/// sample.
std::size_t bucket_of(std::int64_t length, const std::vector<std::int64_t>& boundaries, const std::string& where);

/// The samples of an epoch with these indices, as read by source.sample(). Errors and `skipped` are those of gather().
std::vector<DatasetSample> read_samples(const DatasetSource& source, const std::vector<std::int64_t>& indices,
                                        std::int64_t epoch, const char* where, SkippedSamples* skipped = nullptr);

/// Writes samples into `batch`, padded to one shape for each field. Reuses the batch's tensors as gather() does.
void collate_padded(const std::vector<Field>& fields, const std::vector<DatasetSample>& samples,
                    const BatchPadding& padding, const char* where, HostBatch& batch);

/// Calls a user's function and checks that it keeps the number of samples.
HostBatch collate_with(const std::function<HostBatch(const std::vector<DatasetSample>&)>& function,
                       const std::vector<DatasetSample>& samples);

/// Calls a function of DataLoader::map and checks its result.
HostBatch map_batch(const std::function<HostBatch(HostBatch, std::int64_t, std::int64_t)>& function, HostBatch batch,
                    std::int64_t index, std::int64_t epoch);

}  // namespace mezzo::detail
