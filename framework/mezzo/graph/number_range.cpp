#include <mezzo/graph/number_range.hpp>

#include <cmath>
#include <limits>
#include <type_traits>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/finfo.hpp>
#include <mezzo/core/visit.hpp>

namespace mezzo::detail {

NumberRange number_range(DType dtype) {
  if (is_floating(dtype)) return {finfo(dtype).min, finfo(dtype).max};
  return visit_dtype(dtype, [](auto zero) -> NumberRange {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) {
      return {static_cast<double>(std::numeric_limits<T>::min()), static_cast<double>(std::numeric_limits<T>::max())};
    } else {
      return {};
    }
  });
}

int beyond(double number, DType dtype) {
  if (dtype == DType::boolean || std::isnan(number)) return 0;
  if (is_floating(dtype)) {
    if (std::isinf(number) || std::isfinite(Tensor::scalar(number, dtype).item())) return 0;
    return number > 0 ? 1 : -1;
  }
  const NumberRange range = number_range(dtype);
  return number > range.most ? 1 : number < range.least ? -1 : 0;
}

Tensor number_as(const Tensor& number, DType dtype, const std::string& where) {
  const double given = number.item();
  if (beyond(given, dtype) == 0) return number.cast(dtype);
  const NumberRange range = number_range(dtype);
  if (is_floating(dtype)) {
    fail<ValueError>(where,
                     "a number of dtype {} must lie in [{}, {}] or be infinite; got {} (cast the operands to a wider "
                     "dtype; a mask may be where(mask, x, {}))",
                     dtype, range.least, range.most, given, given > 0 ? range.most : range.least);
  }
  fail<ValueError>(where, "a number of dtype {} must lie in [{}, {}]; got {} (cast the operands to a wider dtype)",
                   dtype, range.least, range.most, given);
}

}  // namespace mezzo::detail
