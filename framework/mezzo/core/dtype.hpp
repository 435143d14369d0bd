#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include <mezzo/core/bfloat16.hpp>
#include <mezzo/core/float16.hpp>

namespace mezzo {

/// The type of the elements of a Tensor or a Value.
enum class DType { float32, float64, bfloat16, float16, int8, int16, int32, int64, uint8, boolean };

/// Its name as numpy and Keras spell it: "float32", "bfloat16", "bool", ...
const char* dtype_name(DType dtype);

/// The dtype of that name; a NameError that lists the good ones otherwise.
DType dtype_from_name(const std::string& name);

/// Bytes per element.
std::size_t dtype_size(DType dtype);

/// float32, float64, bfloat16 or float16.
bool is_floating(DType dtype);

/// The dtype in which two operands meet: floats before integers before bool, the wider before the narrower. bfloat16
/// and float16 meet in float32, since neither holds the other.
DType promote(DType a, DType b);

/// The least dtype in which sums, statistics and losses are computed: float64 for float64, otherwise float32.
DType accumulation_dtype(DType dtype);

/// DTypeOf<T>::value is the DType of a C++ type.
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::float32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::float64;
};
template <>
struct DTypeOf<bfloat16> {
  static constexpr DType value = DType::bfloat16;
};
template <>
struct DTypeOf<float16> {
  static constexpr DType value = DType::float16;
};
template <>
struct DTypeOf<std::int8_t> {
  static constexpr DType value = DType::int8;
};
template <>
struct DTypeOf<std::int16_t> {
  static constexpr DType value = DType::int16;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::int32;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::int64;
};
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::uint8;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::boolean;
};

}  // namespace mezzo
