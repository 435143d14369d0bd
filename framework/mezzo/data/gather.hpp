#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/data/dataset.hpp>
#include <mezzo/data/skipped_samples.hpp>

namespace mezzo::detail {

/// Reads samples of an epoch into `batch`; no field may have an open axis. Reuses the batch's tensors if shape and
/// dtype fit and they are not shared. Exceptions of the source keep their type if it is one of mezzo's; others become
/// an Error. Their text starts with `where` and the sample's index, and the original exception is nested.
///
/// With `skipped` such samples are left out, except for a MemoryError: the batch has fewer, and their number. A
/// ValueError if none is left.
void gather(const DatasetSource& source, const std::vector<std::int64_t>& indices, std::int64_t epoch,
            const char* where, HostBatch& batch, SkippedSamples* skipped = nullptr);

/// Makes the tensors of `batch` fit for `samples` samples; shared tensors are replaced.
void prepare(const std::vector<Field>& fields, std::int64_t samples, const char* where, HostBatch& batch);

/// Throws the exception that is being handled again, with `prefix` before its text, as gather() says.
[[noreturn]] void rethrow_with(const std::string& prefix);

/// The same, or, with `skipped` and for another exception than a MemoryError, notes it there.
void rethrow_or_skip(const std::string& prefix, SkippedSamples* skipped);

/// Makes the first `kept` samples of a batch the only ones. A ValueError that starts with `where` if there is none.
void keep_first(std::int64_t kept, const char* where, HostBatch& batch);

}  // namespace mezzo::detail
