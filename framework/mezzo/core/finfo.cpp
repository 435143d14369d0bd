#include <mezzo/core/finfo.hpp>

#include <cmath>
#include <string>

#include <mezzo/core/error.hpp>

namespace mezzo {
namespace {

/// IEEE 754's parameters: binary digits, the hidden one among them, and the exponents of smallest_normal and max.
struct Format {
  int precision, least, greatest;
};

Format format_of(DType dtype) {
  switch (dtype) {
    case DType::float16:
      return {11, -14, 15};
    case DType::bfloat16:
      return {8, -126, 127};
    case DType::float32:
      return {24, -126, 127};
    case DType::float64:
      return {53, -1022, 1023};
    default:
      throw DTypeError(std::string("[finfo] dtype must be float16, bfloat16, float32 or float64; got ") +
                       dtype_name(dtype));
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
  out.max = std::ldexp(2 - out.eps, format.greatest);
  out.min = -out.max;
  out.smallest_normal = std::ldexp(1, format.least);
  out.smallest_subnormal = std::ldexp(out.eps, format.least);
  out.resolution = std::pow(10, -out.digits);
  return out;
}

}  // namespace mezzo
