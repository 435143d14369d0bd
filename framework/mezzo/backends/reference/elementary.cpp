#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/elements.hpp>
#include <mezzo/backends/reference/pairs.hpp>

// Elementary functions of floats, in double for every dtype.
namespace mezzo::reference {
namespace {

/// A start to about 3e-3 (Winitzki, "A handy approximation for the error function and its inverse", 2008), then
/// Halley's steps on erfc, whose result has all digits near 1.
double inverse_erf(double x) {
  const double a = std::abs(x);
  if (!(a < 1))
    return a == 1 ? std::copysign(std::numeric_limits<double>::infinity(), x)
                  : std::numeric_limits<double>::quiet_NaN();
  if (a == 0) return x;
  constexpr double c = 0.147;
  const double l = std::log1p(-a * a), s = 2 / (std::numbers::pi * c) + l / 2;
  double y = std::sqrt(std::sqrt(s * s - l / c) - s);
  for (int step = 0; step < 3; ++step) {
    const double error = a < 0.5 ? std::erf(y) - a : (1 - a) - std::erfc(y);
    const double newton = error / (2 / std::sqrt(std::numbers::pi) * std::exp(-y * y));
    y -= newton / (1 + y * newton);
  }
  return std::copysign(y, x);
}

double log_of_sum(double a, double b) {
  if (a == b) return a + std::log(2.0);  // infinities too
  const double high = std::max(a, b), low = std::min(a, b);
  return std::isnan(a) || std::isnan(b) ? a + b : high + std::log1p(std::exp(low - high));
}

}  // namespace

// A row for each op of one operand: its name and its function.
#define MEZZO_ELEMENTARY(name, function)                                                     \
  std::unique_ptr<Kernel> create_##name(const KernelRequest& request, std::string& reason) { \
    return in_double<1>(request, reason, [](double x) { return function; });                 \
  }
MEZZO_ELEMENTARY(arccos, std::acos(x))
MEZZO_ELEMENTARY(arccosh, std::acosh(x))
MEZZO_ELEMENTARY(arcsin, std::asin(x))
MEZZO_ELEMENTARY(arcsinh, std::asinh(x))
MEZZO_ELEMENTARY(arctan, std::atan(x))
MEZZO_ELEMENTARY(arctanh, std::atanh(x))
MEZZO_ELEMENTARY(cbrt, std::cbrt(x))
MEZZO_ELEMENTARY(ceil, std::ceil(x))
MEZZO_ELEMENTARY(cos, std::cos(x))
MEZZO_ELEMENTARY(cosh, std::cosh(x))
MEZZO_ELEMENTARY(erf, std::erf(x))
MEZZO_ELEMENTARY(erfc, std::erfc(x))
MEZZO_ELEMENTARY(erfinv, inverse_erf(x))
MEZZO_ELEMENTARY(exp2, std::exp2(x))
MEZZO_ELEMENTARY(expm1, std::expm1(x))
MEZZO_ELEMENTARY(floor, std::floor(x))
MEZZO_ELEMENTARY(log10, std::log10(x))
MEZZO_ELEMENTARY(log1p, std::log1p(x))
MEZZO_ELEMENTARY(log2, std::log2(x))
MEZZO_ELEMENTARY(round, std::nearbyint(x))
MEZZO_ELEMENTARY(rsqrt, 1 / std::sqrt(x))
MEZZO_ELEMENTARY(sin, std::sin(x))
MEZZO_ELEMENTARY(sinh, std::sinh(x))
MEZZO_ELEMENTARY(sqrt, std::sqrt(x))
MEZZO_ELEMENTARY(tan, std::tan(x))
MEZZO_ELEMENTARY(trunc, std::trunc(x))
#undef MEZZO_ELEMENTARY

std::unique_ptr<Kernel> create_hypot(const KernelRequest& request, std::string& reason) {
  return pairs_in_double(request, reason, [](double a, double b) { return std::hypot(a, b); });
}

std::unique_ptr<Kernel> create_arctan2(const KernelRequest& request, std::string& reason) {
  return pairs_in_double(request, reason, [](double a, double b) { return std::atan2(a, b); });
}

std::unique_ptr<Kernel> create_logaddexp(const KernelRequest& request, std::string& reason) {
  return pairs_in_double(request, reason, [](double a, double b) { return log_of_sum(a, b); });
}

std::unique_ptr<Kernel> create_nan_to_num(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    constexpr auto most = static_cast<double>(std::numeric_limits<T>::max());
    const Attributes& all = request.attributes;
    const auto nan = static_cast<T>(all.get<double>("nan"));
    const auto high = static_cast<T>(all.get_or("posinf", most)), low = static_cast<T>(all.get_or("neginf", -most));
    return elementwise<1>(request, reason, [=](auto x) -> T {
      if (std::isnan(x)) return nan;
      if (std::isinf(x)) return x > 0 ? high : low;
      return static_cast<T>(x);
    });
  });
}

}  // namespace mezzo::reference
