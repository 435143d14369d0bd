#include <mezzo/ops/random_words.hpp>

#include <cmath>

#include <mezzo/core/random.hpp>

namespace mezzo::detail {
namespace {

/// log(x!)
double log_factorial(double x) {
  int sign = 0;
  return ::lgamma_r(x + 1, &sign);  // std::lgamma writes a global
}

/// Binomial number for n p below 10: walks up the probabilities.
double binomial_by_inversion(RandomWords& words, double n, double p) {
  const double ratio = p / (1 - p), none = std::exp(n * std::log1p(-p));
  double probability = none, u = words.unit(), k = 0;
  while (u > probability && k < n) {
    u -= probability;
    ++k;
    probability *= (n - k + 1) / k * ratio;
    if (probability < 1e-300) break;
  }
  return k;
}

/// Binomial number for n p of at least 10 and p of at most 1/2: transformed rejection with squeeze (BTRS).
double binomial_by_rejection(RandomWords& words, double n, double p) {
  const double deviation = std::sqrt(n * p * (1 - p));
  const double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * p, c = n * p + 0.5;
  const double accepted = 0.92 - 4.2 / b, alpha = (2.83 + 5.1 / b) * deviation, odds = std::log(p / (1 - p));
  const double mode = std::floor((n + 1) * p);
  const double peak = log_factorial(mode) + log_factorial(n - mode);
  while (true) {
    const double u = words.unit() - 0.5, v = words.positive_unit(), s = 0.5 - std::abs(u);
    const double k = std::floor((2 * a / s + b) * u + c);
    if (k < 0 || k > n) continue;
    if (s >= 0.07 && v <= accepted) return k;
    const double height = std::log(v * alpha / (a / (s * s) + b));
    if (height <= peak - log_factorial(k) - log_factorial(n - k) + (k - mode) * odds) return k;
  }
}

}  // namespace

std::uint64_t RandomWords::word() {
  full_ = !full_;
  if (!full_) return next_;
  const auto words = philox(key_, element_, block_++);
  next_ = (static_cast<std::uint64_t>(words[2]) << 32) | words[3];
  return (static_cast<std::uint64_t>(words[0]) << 32) | words[1];
}

double RandomWords::unit() {
  const std::uint64_t one = word();
  return unit_double(static_cast<std::uint32_t>(one >> 32), static_cast<std::uint32_t>(one));
}

double RandomWords::normal() {
  const double radius = std::sqrt(-2 * std::log(positive_unit()));
  return radius * std::cos(6.283185307179586 * unit());
}

double RandomWords::truncated_normal() {
  while (true) {
    const double z = normal();
    if (std::abs(z) <= 2) return z;
  }
}

std::int64_t RandomWords::integer(std::int64_t minval, std::int64_t maxval) {
  const std::uint64_t range = static_cast<std::uint64_t>(maxval) - static_cast<std::uint64_t>(minval);
  const std::uint64_t least = (0 - range) % range;  // words below would make small remainders more probable
  std::uint64_t x = word();
  while (x < least) x = word();
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(minval) + x % range);
}

double RandomWords::log_gamma(double alpha) {
  const double boost = alpha < 1 ? std::log(positive_unit()) / alpha : 0;
  const double d = (alpha < 1 ? alpha + 1 : alpha) - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = normal(), root = 1 + c * x;
    if (root <= 0) continue;
    const double v = root * root * root;
    if (std::log(positive_unit()) < x * x / 2 + d - d * v + d * std::log(v)) return std::log(d * v) + boost;
  }
}

double RandomWords::binomial(double n, double p) {
  if (p > 0.5) return n - binomial(n, 1 - p);
  if (n == 0 || p == 0) return 0;
  return n * p < 10 ? binomial_by_inversion(*this, n, p) : binomial_by_rejection(*this, n, p);
}

}  // namespace mezzo::detail
