#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/core/bfloat16.hpp>
#include <mezzo/core/float16.hpp>
#include <mezzo/core/float8.hpp>

namespace mezzo {

/// Type of the elements of a Tensor or a Value. The float8 dtypes are for storage: only casts compute with them.
enum class DType {
  float32,
  float64,
  bfloat16,
  float16,
  int8,
  int16,
  int32,
  int64,
  uint8,
  boolean,
  float8_e4m3fn,
  float8_e5m2
};

/// Name of a dtype as in numpy and Keras: "float32", "bfloat16", "bool", ...
MEZZO_API const char* dtype_name(DType dtype);

/// Dtype of a name. Throws a NameError with the valid names if there is none.
MEZZO_API DType dtype_from_name(const std::string& name);

/// Size of an element in bytes.
MEZZO_API std::size_t dtype_size(DType dtype);

/// True for float32, float64, bfloat16 and float16, the dtypes of computations.
MEZZO_API bool is_floating(DType dtype);

/// True for float8_e4m3fn and float8_e5m2.
MEZZO_API bool is_float8(DType dtype);

/// Common dtype of two operands: floats before integers before bool, wider before narrower. bfloat16 and float16
/// promote to float32, int8 and uint8 to int16, because neither contains the other. A float8 dtype promotes to the
/// other dtype if that is floating, else to float32.
MEZZO_API DType promote(DType a, DType b);

/// Minimal dtype of sums, statistics and losses of elements of a dtype: float64 for float64, otherwise float32.
MEZZO_API DType accumulation_dtype(DType dtype);

/// Maps a C++ type to its dtype: DTypeOf<float>::value is DType::float32.
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
struct DTypeOf<float8_e4m3fn> {
  static constexpr DType value = DType::float8_e4m3fn;
};
template <>
struct DTypeOf<float8_e5m2> {
  static constexpr DType value = DType::float8_e5m2;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::boolean;
};

}  // namespace mezzo
