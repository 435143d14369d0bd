#pragma once
#include <map>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/io/npy.hpp>

namespace mezzo {

/// Reads all arrays of a `.npz` file, as numpy.savez and numpy.savez_compressed write it: a zip archive with one entry
/// `NAME.npy` for each array. The result maps NAME to the array. Entries may be stored or deflated; dtypes are those of
/// load_npy(). Other files in the archive are skipped; so are arrays without numbers (texts, objects, dates) and
/// structured arrays, with one warning that lists them.
///
/// Throws a FileError that names the file and the entry if the file is missing, not a zip archive, damaged or
/// truncated, or if an array has a dtype of numbers that load_npy() doesn't read (longdouble, complex64).
MEZZO_API std::map<std::string, Tensor> load_npz(const std::string& path);

/// Reads one array of a `.npz` file, and no other entry. Throws a NameError that lists the names if there is none of
/// that name, and the errors of load_npy().
MEZZO_API Tensor load_npz(const std::string& path, const std::string& name, const LoadNpyOptions& options = {});

/// Writes arrays to a `.npz` file, for numpy.load and load_npz(), not compressed, like numpy.savez. The file appears as
/// a whole: if writing fails, a previous file of that name stays unchanged.
///
/// Throws a DTypeError for bfloat16 arrays, which numpy lacks: cast to float32 first. Throws a NameError for a name
/// that is empty or not UTF-8, and a FileError if the file can't be written, or has the suffix of another format.
MEZZO_API void save_npz(const std::string& path, const std::map<std::string, Tensor>& tensors);

}  // namespace mezzo
