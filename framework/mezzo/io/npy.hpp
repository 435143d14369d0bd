#pragma once
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>

namespace mezzo {

/// Options of load_npy() and of load_npz() for one array.
struct LoadNpyOptions {
  /// Field of a structured array, also of a field of its own: "position.x"; "": the array must have no fields. The
  /// axes of a field that is an array follow those of the structured array.
  std::string field{};
};

/// Reads the array in a `.npy` file, numpy's format, versions 1.0 to 3.0. Dtypes: float16, float32, float64, int8,
/// int16, int32, int64, uint8 and bool, little-endian or big-endian; uint16 becomes int32, uint32 and uint64 become
/// int64. Arrays in Fortran order become row-major. Reading needs memory for two copies of the array.
///
/// Throws a FileError that names the file, the expected and the given value if the file is missing, damaged or
/// truncated, has bytes after the array, or holds another dtype (objects, texts, longdouble, ...) or a uint64 of 2^63
/// or more. Throws a NameError that lists the fields for an unknown one.
MEZZO_API Tensor load_npy(const std::string& path, const LoadNpyOptions& options = {});

/// Writes an array to a `.npy` file, for numpy.load and load_npy(). The file appears as a whole: if writing fails, a
/// previous file of that name stays unchanged.
///
/// Throws a DTypeError for bfloat16, which numpy lacks: cast to float32 first. Throws a FileError if the file can't be
/// written, or has the suffix of another format.
MEZZO_API void save_npy(const std::string& path, const Tensor& tensor);

}  // namespace mezzo
