#pragma once
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>

namespace mezzo {

/// Reads the array in a `.npy` file, numpy's format, versions 1.0 to 3.0. Dtypes: float16, float32, float64, int8,
/// int16, int32, int64, uint8 and bool, little-endian. Arrays in Fortran order become row-major. Reading needs memory
/// for two copies of the array.
///
/// Throws a FileError that names the file, the expected and the given value if the file is missing, damaged or
/// truncated, has bytes after the array, or holds another dtype (objects, big-endian numbers, uint16, ...).
MEZZO_API Tensor load_npy(const std::string& path);

/// Writes an array to a `.npy` file, for numpy.load and load_npy(). The file appears as a whole: if writing fails, a
/// previous file of that name stays unchanged.
///
/// Throws a DTypeError for bfloat16, which numpy lacks: cast to float32 first. Throws a FileError if the file can't be
/// written.
MEZZO_API void save_npy(const std::string& path, const Tensor& tensor);

}  // namespace mezzo
