#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/data/dataset_source.hpp>
#include <mezzo/data/skipped_samples.hpp>

namespace mezzo::detail {

/// Reads samples of an epoch into `batch`; no field may have an open axis. Reuses the batch's tensors if shape and
/// dtype fit and they are not shared. Exceptions of mezzo keep their type; others become an Error. Their text starts
/// with `where` and the sample's index, and the original exception is nested.
///
/// With `skipped`, samples with an error other than a MemoryError are left out: the batch has fewer samples, and the
/// number of skipped ones. A ValueError if none is left.
void gather(const DatasetSource& source, const std::vector<std::int64_t>& indices, std::int64_t epoch,
            const char* where, HostBatch& batch, SkippedSamples* skipped = nullptr);

/// Makes the tensors of `batch` fit for `samples` samples; shared tensors are replaced.
void prepare(const std::vector<Field>& fields, std::int64_t samples, const char* where, HostBatch& batch);

/// Rethrows the exception that is being handled with `prefix` before its text, as documented at gather().
[[noreturn]] void rethrow_with(const std::string& prefix);

/// The same; with `skipped`, an exception other than a MemoryError is recorded there instead.
void rethrow_or_skip(const std::string& prefix, SkippedSamples* skipped);

/// Reduces a batch to its first `kept` samples. A ValueError that starts with `where` if there is none.
void keep_first(std::int64_t kept, const char* where, HostBatch& batch);

}  // namespace mezzo::detail
