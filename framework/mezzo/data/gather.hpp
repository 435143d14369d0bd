#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/data/dataset.hpp>

namespace mezzo::detail {

/// Reads samples of an epoch into `batch`; no field may have an open axis. Reuses the batch's tensors if shape and
/// dtype fit and they are not shared. Exceptions of the source keep their type if it is one of mezzo's; others become
/// an Error. Their text starts with `where` and the sample's index, and the original exception is nested.
void gather(const DatasetSource& source, const std::vector<std::int64_t>& indices, std::int64_t epoch,
            const char* where, HostBatch& batch);

/// Makes the tensors of `batch` fit for `samples` samples; shared tensors are replaced.
void prepare(const std::vector<Field>& fields, std::int64_t samples, const char* where, HostBatch& batch);

/// Throws the exception that is being handled again, with `prefix` before its text, as gather() says.
[[noreturn]] void rethrow_with(const std::string& prefix);

}  // namespace mezzo::detail
