#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <mezzo/core/dtype.hpp>
#include <mezzo/core/shape.hpp>

namespace mezzo::detail {

struct NpyRecordField;

/// Type of the elements of a numpy array, as `descr` of a `.npy` header has it.
struct NpyType {
  std::string descr;                   ///< "<f4"; "fields x, y" for a structured type
  std::optional<DType> dtype;          ///< dtype of the numbers that are read; nullopt: mezzo lacks such a type
  bool big_endian = false;             ///< true: numbers of 2 bytes or more, the most significant byte first
  std::uint64_t bytes = 0;             ///< size of an element; 0 for objects, whose size is not known
  Shape shape{};                       ///< axes of an element that is an array
  std::vector<NpyRecordField> fields;  ///< fields of a structured type; without those that pad

  /// True for uint16, uint32 and uint64, which are read as int32, int64 and int64.
  bool is_large_unsigned() const;

  /// True for numbers and bools, also of a type that mezzo lacks.
  bool is_number() const;
};

/// Field of a structured type.
struct NpyRecordField {
  std::string name;
  std::uint64_t begin = 0;  ///< offset in bytes in an element
  NpyType type;
};

/// Parses the value of `descr` at the start of a text, and removes it from the text. nullopt if it is malformed.
std::optional<NpyType> parse_npy_type(std::string_view& text);

/// numpy's name of the type with its `descr`: "uint16 (<u2)", "<U3 (texts)", "fields x, y".
std::string describe_npy_type(const NpyType& type);

/// Names of all dtypes that are read: "float32, float64, ...".
std::string npy_dtype_names();

}  // namespace mezzo::detail
