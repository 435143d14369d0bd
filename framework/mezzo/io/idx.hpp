#pragma once
#include <functional>
#include <string>

#include <mezzo/core/tensor.hpp>

namespace mezzo {

/// Receives the dtype and shape in the header of a file. Throws if the caller does not accept them.
using IdxCheck = std::function<void(DType dtype, const Shape& shape)>;

/// Reads the array in an IDX file (MNIST's format), plain or gzipped: uint8, int8, int16, int32, float32 or float64,
/// rank 1 to 8, at most 4 GiB. `check` is called before memory for the elements is allocated: a small gzip file can
/// hold a large array. Throws a FileError that names the file if it is missing or not exactly one array: wrong magic
/// number or type code, missing or trailing bytes, corrupt gzip data.
Tensor read_idx_file(const std::string& path, const IdxCheck& check = {});

}  // namespace mezzo
