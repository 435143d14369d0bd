#pragma once
#include <cstdint>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/core/dtype.hpp>

namespace mezzo {

namespace detail {
/// Throws the DTypeError of computations with a float8 dtype.
[[noreturn]] MEZZO_API void fail_storage_dtype(DType dtype);
}  // namespace detail

/// Calls f with a zero of the C++ type of `dtype` and returns its result:
/// `visit_dtype(t.dtype(), [&](auto zero) { use<decltype(zero)>(); })`. A DTypeError for the float8
/// dtypes, which only casts convert.
template <class F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::float32:
      return f(float{});
    case DType::float64:
      return f(double{});
    case DType::bfloat16:
      return f(bfloat16{});
    case DType::float16:
      return f(float16{});
    case DType::int8:
      return f(std::int8_t{});
    case DType::int16:
      return f(std::int16_t{});
    case DType::int32:
      return f(std::int32_t{});
    case DType::int64:
      return f(std::int64_t{});
    case DType::uint8:
      return f(std::uint8_t{});
    case DType::float8_e4m3fn:
    case DType::float8_e5m2:
      detail::fail_storage_dtype(dtype);
    case DType::boolean:
      break;
  }
  return f(bool{});
}

/// The same with the float8 dtypes: for casts and printing.
template <class F>
decltype(auto) visit_stored_dtype(DType dtype, F&& f) {
  if (dtype == DType::float8_e4m3fn) return f(float8_e4m3fn{});
  if (dtype == DType::float8_e5m2) return f(float8_e5m2{});
  return visit_dtype(dtype, std::forward<F>(f));
}

}  // namespace mezzo
