#pragma once
#include <cstdint>
#include <string>

#include <mezzo/core/dtype.hpp>

namespace mezzo {

/// Label i of an array of any integer dtype.
std::int64_t label_at(const void* labels, DType dtype, std::int64_t i);

/// Throws a ValueError unless all labels are in [0, classes): `<what> must be in [0, 10); got 12 at index 3`. `what`
/// names layer and operand: `[Embedding "tokens"] indices`.
void check_labels(const void* labels, DType dtype, std::int64_t count, std::int64_t classes, const std::string& what);

}  // namespace mezzo
