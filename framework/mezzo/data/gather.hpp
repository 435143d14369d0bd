#pragma once
#include <cstdint>
#include <vector>

#include <mezzo/data/dataset.hpp>

namespace mezzo::detail {

// Reads the samples of these indices, as they are in `epoch`, into `batch`, whose tensors are used again where they fit
// and nobody else holds them. An exception keeps its type among mezzo's (any other becomes an Error) and gets `where`
// and the sample's index in front of its text; the original is nested in it.
void gather(const DatasetSource& source, const std::vector<std::int64_t>& indices, std::int64_t epoch,
            const char* where, HostBatch& batch);

}  // namespace mezzo::detail
