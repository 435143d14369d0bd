#include <mezzo/precision/mx.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include <mezzo/core/fail.hpp>
#include <mezzo/precision/mx_element.hpp>

namespace mezzo {
namespace {

constexpr std::int64_t block_size = 32;
constexpr int largest_scale = 127;  // exponent of the most scale, an E8M0; of the smallest, negated

/// Rounds the elements of a block.
void round_block(double* x, std::int64_t count, const detail::MXElement& element) {
  double most = 0;
  bool finite = true;
  for (std::int64_t i = 0; i < count; ++i) {
    finite = finite && std::isfinite(x[i]);
    most = std::max(most, std::abs(x[i]));
  }
  if (!finite) std::fill_n(x, count, std::numeric_limits<double>::quiet_NaN());
  if (!finite || most == 0) return;
  const int scale = std::clamp(std::ilogb(most) - element.greatest, -largest_scale, largest_scale);
  for (std::int64_t i = 0; i < count; ++i) x[i] = std::ldexp(element.round(std::ldexp(x[i], -scale)), scale);
}

}  // namespace

double detail::MXElement::round(double x) const {
  const int exponent = x == 0 ? least : std::max(std::ilogb(x), least);
  const double units = std::nearbyint(std::ldexp(x, mantissa - exponent));
  return std::clamp(std::ldexp(units, exponent - mantissa), -max, max);
}

const std::vector<detail::MXElement>& detail::mx_elements() {
  static const std::vector<MXElement> all{{"mxfp8_e5m2", 5, 2, -14, 15, 57344}, {"mxfp8_e4m3", 4, 3, -6, 8, 448},
                                          {"mxfp6_e3m2", 3, 2, -2, 4, 28},      {"mxfp6_e2m3", 2, 3, 0, 2, 7.5},
                                          {"mxfp4_e2m1", 2, 1, 0, 2, 6},        {"mxint8", 0, 6, 0, 0, 127.0 / 64}};
  return all;
}

const detail::MXElement& detail::mx_element(const std::string& format) {
  std::vector<std::string_view> names;
  for (const MXElement& element : mx_elements()) {
    if (format == element.name) return element;
    names.emplace_back(element.name);
  }
  fail_unknown("[fake_quantize_mx]", "format", format, names);
}

Tensor fake_quantize_mx(const Tensor& x, const MXOptions& options) {
  constexpr const char* where = "[fake_quantize_mx]";
  const detail::MXElement& element = detail::mx_element(options.format);
  if (!is_floating(x.dtype())) fail<DTypeError>(where, "x must be floating; got {}", x.dtype());
  if (x.shape().empty()) fail<ShapeError>(where, "x must have a last axis; got shape {}", x.shape());
  Tensor out = x.cast(DType::float64);
  double* numbers = out.mutable_data<double>();
  const std::int64_t row = x.shape().back();
  for (std::int64_t begin = 0; begin < x.size(); begin += row) {
    for (std::int64_t i = 0; i < row; i += block_size) {
      round_block(numbers + begin + i, std::min(block_size, row - i), element);
    }
  }
  return out.cast(x.dtype());
}

}  // namespace mezzo
