#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <mezzo/core/tensor.hpp>
#include <mezzo/io/npy_format.hpp>

namespace mezzo::detail {

/// Calls function(name without .npy, bytes, start of error texts) for each `.npy` entry of a `.npz` file, in order.
/// Errors are those of load_npz().
void for_each_npz_entry(
    const std::string& path,
    const std::function<void(const std::string& name, std::string_view content, const std::string& where)>& function);

/// Reads bytes that follow one another.
inline ReadBytes reader_of(std::string_view bytes) {
  return [bytes](void* to, std::size_t count) mutable {
    std::copy_n(bytes.data(), count, static_cast<char*>(to));  // also of an empty entry, whose data() may be null
    bytes.remove_prefix(count);
  };
}

/// Arrays of numbers, and arrays of lists of integers, by name.
struct NpzLists {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::vector<std::vector<std::int64_t>>> lists;
};

/// Reads a `.npz` file with arrays of lists of integers, which numpy stores as pickles. A pickle can name functions to
/// be called; no function is called. Only the names that numpy writes for such an array are accepted, and only the
/// integers are read. Throws a FileError that names file, entry and reason for anything else, as load_npz() does.
NpzLists load_npz_lists(const std::string& path);

}  // namespace mezzo::detail
