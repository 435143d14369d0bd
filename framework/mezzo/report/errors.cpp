#include <mezzo/report/errors.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <mezzo/core/convert.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/finfo.hpp>
#include <mezzo/core/visit.hpp>

namespace mezzo::detail {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Calls f(double) for each value, without a copy of the tensor.
template <class F>
void for_each_value(const Tensor& tensor, F&& f) {
  visit_dtype(tensor.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* values = tensor.data<T>();
    for (std::int64_t i = 0; i < tensor.size(); ++i) f(convert<double>(values[i]));
  });
}

/// Number rounded to a floating dtype.
double rounded_to(double number, DType dtype) {
  if (dtype == DType::float16) return convert<double>(convert<float16>(number));
  if (dtype == DType::bfloat16) return convert<double>(convert<bfloat16>(number));
  return dtype == DType::float32 ? static_cast<double>(static_cast<float>(number)) : number;
}

std::string shapes_text(const std::vector<Tensor>& tensors) {
  std::vector<Shape> shapes;
  for (const Tensor& tensor : tensors) shapes.push_back(tensor.shape());
  return fmt::format("[{}]", fmt::join(shapes, ", "));
}

}  // namespace

double relative_error(const std::vector<Tensor>& a, double scale, const std::vector<Tensor>& b,
                      const std::string& what) {
  bool alike = a.size() == b.size();
  for (std::size_t i = 0; alike && i < a.size(); ++i) {
    alike = a[i].size() == 0 || b[i].size() == 0 || a[i].shape() == b[i].shape();
  }
  if (!alike) {
    fail<ValueError>(what, "must give the same shapes under the policy as in float32, {}; got {}", shapes_text(b),
                     shapes_text(a));
  }
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::vector<double> expected = b[i].to_doubles();
    expected.resize(static_cast<std::size_t>(std::max(a[i].size(), b[i].size())));
    for (const double value : expected) norm += value * value;
    std::size_t at = 0;
    for_each_value(a[i], [&](double value) { expected[at++] -= value / scale; });
    for (const double value : expected) difference += value * value;
  }
  if (difference == 0) return 0;
  return norm == 0 ? infinite : std::sqrt(difference / norm);
}

ValueRange range_of(const std::vector<Tensor>& values, double scale, DType dtype) {
  const double normal = finfo(dtype).smallest_normal;
  ValueRange range;
  double count = 0;
  double overflows = 0;
  double underflows = 0;
  double smallest = infinite;
  for (const Tensor& tensor : values) {
    count += static_cast<double>(tensor.size());
    for_each_value(tensor, [&](double value) {
      const double magnitude = std::abs(value) * scale;
      if (!(magnitude > 0)) return;
      range.largest = std::max(range.largest, magnitude);
      smallest = std::min(smallest, magnitude);
      const double held = rounded_to(magnitude, dtype);
      if (std::isinf(held) && std::isfinite(magnitude)) ++overflows;
      if (held < normal) ++underflows;
    });
  }
  if (range.largest > 0) range.smallest = smallest;
  if (count > 0) range.overflow = overflows / count;
  if (count > 0) range.underflow = underflows / count;
  return range;
}

bool is_worse(double a, double b) { return std::isnan(a) ? !std::isnan(b) : a > b; }

std::string error_text(double error) {
  if (std::isnan(error)) return "nan";
  return error == 0 ? "0" : fmt::format("{:.2e}", error);
}

}  // namespace mezzo::detail
