#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include <mezzo/core/tensor.hpp>
#include <mezzo/io/npy_type.hpp>

namespace mezzo::detail {

/// Reads the next `count` bytes of a source; throws if there are fewer.
using ReadBytes = std::function<void(void* to, std::size_t count)>;

/// Appends `count` bytes to a target.
using WriteBytes = std::function<void(const void* from, std::size_t count)>;

/// Header of a `.npy` array.
struct NpyHeader {
  NpyType type;
  bool fortran_order = false;
  Shape shape;
};

/// Numbers of a `.npy` array: all of them, or one field of a structured array.
struct NpyNumbers {
  DType dtype = DType::float32;
  DType stored = DType::float32;  ///< as which they are read: uint8 for bools, int16 for uint16, ...; then converted
  bool is_unsigned = false;       ///< uint16, uint32 or uint64: the stored bits are an unsigned number
  bool big_endian = false;
  bool fortran_order = false;
  Shape shape;
  std::uint64_t record = 0;  ///< bytes of an element of the file
  std::uint64_t begin = 0;   ///< offset of the field in an element
  std::uint64_t bytes = 0;   ///< bytes of the field; equal to `record` without fields
};

/// numpy's name of a dtype: "<f4", "|b1". Throws a DTypeError that starts with `where` for bfloat16, which has none.
std::string npy_descr(DType dtype, const std::string& where);

/// Reads and checks the header of an array of `size` bytes, header included. Afterwards the source is at the first
/// element, and the remaining bytes are those of the elements. Throws a FileError that starts with `where`.
NpyHeader read_npy_header(const ReadBytes& read, std::uint64_t size, const std::string& where);

/// Finds the numbers of a field, or of an array without fields if `field` is "". Throws a FileError that starts with
/// `where` if mezzo lacks their dtype, a NameError for an unknown field.
NpyNumbers npy_numbers(const NpyHeader& header, const std::string& field, const std::string& where);

/// Reads the numbers after the header. Throws a FileError that starts with `where`.
Tensor read_npy_numbers(const ReadBytes& read, const NpyNumbers& numbers, const std::string& where);

/// Reads an array of `size` bytes, header included. Throws the errors of these functions.
Tensor read_npy(const ReadBytes& read, std::uint64_t size, const std::string& field, const std::string& where);

/// Writes an array in row-major order. Throws a DTypeError that starts with `where` for bfloat16.
void write_npy(const Tensor& tensor, const WriteBytes& write, const std::string& where);

}  // namespace mezzo::detail
