#pragma once
#include <string>

#include <mezzo/core/tensor.hpp>

namespace mezzo {

/// Reads the array in an IDX file (MNIST's format), plain or gzipped: uint8, int8, int16, int32, float32 or float64,
/// rank 1 to 8, at most 4 GiB. Throws a FileError that names the file if it is missing or not exactly one array: wrong
/// magic number or type code, missing or trailing bytes, corrupt gzip data.
Tensor read_idx_file(const std::string& path);

}  // namespace mezzo
