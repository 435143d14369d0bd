#pragma once
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/io/npy_format.hpp>
#include <mezzo/io/tensor_entry.hpp>

namespace mezzo::detail {

/// Description of the array in a `.npy` file, from its header alone: its name is "". Types that mezzo lacks, and
/// unsigned numbers that load_npy() widens, have no dtype, and a text such as "uint16 (<u2)". A FileError if the file
/// is no array or its header is damaged.
MEZZO_API TensorEntry npy_entry(const std::string& path);

/// The same of all arrays in a `.npz` file, in its order. The numbers and their checksums are not read. A FileError
/// that names the entry if it is damaged.
MEZZO_API std::vector<TensorEntry> npz_entries(const std::string& path);

/// Description of an array with that header.
TensorEntry entry_of_npy(const std::string& name, const NpyHeader& header);

}  // namespace mezzo::detail
