#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include <mezzo/core/tensor.hpp>

namespace mezzo::detail {

/// Reads the next `count` bytes of a source; throws if there are fewer.
using ReadBytes = std::function<void(void* to, std::size_t count)>;

/// Appends `count` bytes to a target.
using WriteBytes = std::function<void(const void* from, std::size_t count)>;

/// Header of a `.npy` array.
struct NpyHeader {
  DType dtype = DType::float32;
  bool fortran_order = false;
  Shape shape;
};

/// numpy's name of a dtype: "<f4", "|b1". Throws a DTypeError that starts with `where` for bfloat16, which has none.
std::string npy_descr(DType dtype, const std::string& where);

/// Reads and checks the header of an array of `size` bytes, header included. Afterwards the source is at the first
/// element, and the remaining bytes are those of the elements. Throws a FileError that starts with `where`.
NpyHeader read_npy_header(const ReadBytes& read, std::uint64_t size, const std::string& where);

/// Reads an array of `size` bytes, header included. Throws a FileError that starts with `where`.
Tensor read_npy(const ReadBytes& read, std::uint64_t size, const std::string& where);

/// Writes an array in row-major order. Throws a DTypeError that starts with `where` for bfloat16.
void write_npy(const Tensor& tensor, const WriteBytes& write, const std::string& where);

}  // namespace mezzo::detail
