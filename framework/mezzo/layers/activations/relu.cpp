#include <mezzo/layers/activations/relu.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/layers/activations/leaky_relu.hpp>

namespace mezzo {

ReLU::ReLU(ReLUOptions options) : Layer("ReLU", options), options_(std::move(options)) {
  const auto check = [&](const char* option, double value) {
    if (!(value >= 0)) fail<ValueError>(label(), "{} must not be negative; got {}", option, value);
  };
  if (options_.max_value) check("max_value", *options_.max_value);
  check("negative_slope", options_.negative_slope);
  check("threshold", options_.threshold);
}

Value ReLU::call(const Value& x) {
  const double threshold = options_.threshold;
  Value y = threshold == 0 ? relu(x) : where(x <= threshold, 0.0, x);
  if (options_.max_value) y = where(y <= *options_.max_value, y, *options_.max_value);
  return options_.negative_slope == 0 ? y : y - options_.negative_slope * relu(threshold - x);
}

LeakyReLU::LeakyReLU(LeakyReLUOptions options) : Layer("LeakyReLU", options), options_(std::move(options)) {
  if (!(options_.negative_slope >= 0)) {
    fail<ValueError>(label(), "negative_slope must not be negative; got {}", options_.negative_slope);
  }
}

}  // namespace mezzo
