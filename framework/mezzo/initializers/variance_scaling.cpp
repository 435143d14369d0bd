#include <mezzo/initializers/variance_scaling.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/initializers/random_normal.hpp>
#include <mezzo/initializers/random_uniform.hpp>
#include <mezzo/initializers/truncated_normal.hpp>

namespace mezzo {
namespace {

// Standard deviation of a standard normal distribution that is truncated at two standard deviations.
constexpr double truncated_deviation = 0.87962566103423978;

void require_one_of(const char* option, const std::string& given, const std::vector<std::string>& valid) {
  if (std::find(valid.begin(), valid.end(), given) != valid.end()) return;
  fail_unknown("[VarianceScaling]", option, given, valid);
}

}  // namespace

detail::Fans detail::compute_fans(const Shape& shape) {
  if (shape.empty()) return {};
  if (shape.size() == 1) return {.in = static_cast<double>(shape[0]), .out = static_cast<double>(shape[0])};
  double area = 1;
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) area *= static_cast<double>(shape[i]);
  return {.in = area * static_cast<double>(shape[shape.size() - 2]), .out = area * static_cast<double>(shape.back())};
}

VarianceScaling::VarianceScaling(VarianceScalingOptions options) : options_(std::move(options)) {
  if (!(options_.scale > 0)) fail<ValueError>("[VarianceScaling]", "scale must be positive; got {}", options_.scale);
  if (options_.distribution == "normal") options_.distribution = "truncated_normal";
  require_one_of("mode", options_.mode, {"fan_avg", "fan_in", "fan_out"});
  require_one_of("distribution", options_.distribution, {"truncated_normal", "uniform", "untruncated_normal"});
}

Tensor VarianceScaling::make(const Shape& shape, DType dtype, std::uint64_t key) const {
  check_not_moved();
  const detail::Fans fans = detail::compute_fans(shape);
  const double fan = options_.mode == "fan_in"    ? fans.in
                     : options_.mode == "fan_out" ? fans.out
                                                  : (fans.in + fans.out) / 2;
  const double variance = options_.scale / std::max(1.0, fan);
  if (options_.distribution == "uniform") {
    const double limit = std::sqrt(3 * variance);
    return RandomUniform({.minval = -limit, .maxval = limit, .seed = options_.seed}).make(shape, dtype, key);
  }
  const double deviation = std::sqrt(variance);
  if (options_.distribution == "untruncated_normal") {
    return RandomNormal({.stddev = deviation, .seed = options_.seed}).make(shape, dtype, key);
  }
  return TruncatedNormal({.stddev = deviation / truncated_deviation, .seed = options_.seed}).make(shape, dtype, key);
}

GlorotUniform::GlorotUniform(const SeedOptions& options)
    : VarianceScaling({.scale = 1, .mode = "fan_avg", .distribution = "uniform", .seed = options.seed}) {}
GlorotNormal::GlorotNormal(const SeedOptions& options)
    : VarianceScaling({.scale = 1, .mode = "fan_avg", .distribution = "truncated_normal", .seed = options.seed}) {}
HeUniform::HeUniform(const SeedOptions& options)
    : VarianceScaling({.scale = 2, .mode = "fan_in", .distribution = "uniform", .seed = options.seed}) {}
HeNormal::HeNormal(const SeedOptions& options)
    : VarianceScaling({.scale = 2, .mode = "fan_in", .distribution = "truncated_normal", .seed = options.seed}) {}
LecunUniform::LecunUniform(const SeedOptions& options)
    : VarianceScaling({.scale = 1, .mode = "fan_in", .distribution = "uniform", .seed = options.seed}) {}
LecunNormal::LecunNormal(const SeedOptions& options)
    : VarianceScaling({.scale = 1, .mode = "fan_in", .distribution = "truncated_normal", .seed = options.seed}) {}

}  // namespace mezzo
