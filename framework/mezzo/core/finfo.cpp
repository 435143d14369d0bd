#include <mezzo/core/finfo.hpp>

#include <cmath>

#include <mezzo/core/fail.hpp>

namespace mezzo {
namespace {

/// Parameters as in IEEE 754: binary digits, including the hidden one, and the exponents of smallest_normal and max.
struct Format {
  int precision, least, greatest;
  int missing = 0;  ///< largest significands of the exponent of max that are not numbers
};

Format format_of(DType dtype) {
  switch (dtype) {
    case DType::float8_e4m3fn:
      return {.precision = 4, .least = -6, .greatest = 8, .missing = 1};
    case DType::float8_e5m2:
      return {.precision = 3, .least = -14, .greatest = 15};
    case DType::float16:
      return {.precision = 11, .least = -14, .greatest = 15};
    case DType::bfloat16:
      return {.precision = 8, .least = -126, .greatest = 127};
    case DType::float32:
      return {.precision = 24, .least = -126, .greatest = 127};
    case DType::float64:
      return {.precision = 53, .least = -1022, .greatest = 1023};
    default:
      fail<DTypeError>(
          "[finfo]", "dtype must be float8_e4m3fn, float8_e5m2, float16, bfloat16, float32 or float64; got {}", dtype);
  }
}

}  // namespace

FInfo finfo(DType dtype) {
  const Format format = format_of(dtype);
  FInfo out;
  out.dtype = dtype;
  out.bits = static_cast<int>(8 * dtype_size(dtype));
  out.eps = std::ldexp(1, 1 - format.precision);
  out.digits = static_cast<int>(std::floor(-std::log10(out.eps)));
  out.max = std::ldexp(2 - out.eps * (1 + format.missing), format.greatest);
  out.min = -out.max;
  out.smallest_normal = std::ldexp(1, format.least);
  out.smallest_subnormal = std::ldexp(out.eps, format.least);
  out.resolution = std::pow(10, -out.digits);
  return out;
}

}  // namespace mezzo
