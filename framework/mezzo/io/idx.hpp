#pragma once
#include <string>

#include <mezzo/core/tensor.hpp>

namespace mezzo {

/// The array in an IDX file (MNIST's format), plain or gzipped: uint8, int8, int16, int32, float32 or float64, of rank
/// 1 to 8, at most 4 GiB. A FileError that names the file, what was expected and what was received if it is missing or
/// anything but one whole array: a bad magic number or type code, missing or trailing bytes, corrupt gzip data.
Tensor read_idx_file(const std::string& path);

}  // namespace mezzo
