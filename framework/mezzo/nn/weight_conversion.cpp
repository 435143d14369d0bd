#include <mezzo/nn/weight_conversion.hpp>

#include <cmath>

#include <mezzo/core/convert.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/visit.hpp>

namespace mezzo::detail {

void require_finite_as(DType dtype, const std::string& path, const VariableState& weight, const std::string& where) {
  if (!weight.filled || !is_floating(dtype) || !is_floating(weight.dtype())) return;
  if (weight.dtype() == dtype || dtype == DType::float64) return;
  const Tensor numbers = weight.numbers();
  // Lower than the largest float32 and bfloat16, so that only numbers near the limit are converted.
  const double surely_held = dtype == DType::float16 ? 65504 : 1e38;
  visit_dtype(numbers.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* data = numbers.data<T>();
    for (std::int64_t i = 0; i < numbers.size(); ++i) {
      const auto value = convert<double>(data[i]);
      if (!std::isfinite(value) || std::abs(value) <= surely_held) continue;
      if (std::isfinite(Tensor::scalar(value, dtype).item())) continue;
      fail<ValueError>(where, "values of \"{}\" must be finite in {}; got {}", path, dtype, value);
    }
  });
}

}  // namespace mezzo::detail
