#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include <mezzo/distributed/communicator.hpp>

namespace mezzo::detail {

/// Writes the reduction of `parts`, the elements of rank 0, 1, ..., to `out`, which may be one of them.
void reduce_parts(const std::vector<const std::byte*>& parts, std::byte* out, std::int64_t size, DType dtype,
                  ReduceOp op);

/// Throws a DTypeError for a dtype that can't be reduced.
void require_reducible(DType dtype);

}  // namespace mezzo::detail
