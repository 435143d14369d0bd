#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/layers/in_wide.hpp>
#include <mezzo/layers/lambda.hpp>
#include <mezzo/layers/leaky_relu.hpp>
#include <mezzo/layers/preprocessing/rescaling.hpp>
#include <mezzo/layers/regularization/activity_regularization.hpp>
#include <mezzo/layers/relu.hpp>

// Lambda, and elementwise layers of one input.
namespace mezzo {

Lambda::Lambda(LambdaOptions options) : Layer("Lambda", options), options_(std::move(options)) {
  if (!options_.function.given()) fail<ValueError>(label(), "function is required; got none");
}

Values Lambda::call_many(const Values& xs) {
  if (options_.function.of_all()) return options_.function.of_all()(xs);
  if (xs.size() != 1) fail<ValueError>(label(), "takes one input (a function of a Value); got {}", xs.size());
  return {options_.function.of_one()(xs[0])};
}

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

ActivityRegularization::ActivityRegularization(const ActivityRegularizationOptions& options)
    : Layer("ActivityRegularization", options) {
  const auto check = [&](const char* option, double value) {
    if (!(value >= 0 && std::isfinite(value))) {
      fail<ValueError>(label(), "{} must be a number of at least 0; got {}", option, value);
    }
  };
  check("l1", options.l1);
  check("l2", options.l2);
  state()->activity_regularizer = [l1 = options.l1, l2 = options.l2](const Value& x) {
    return l1 * sum(abs(x)) + l2 * sum(x * x);
  };
}

Value Rescaling::call(const Value& x) {
  return detail::in_wide({x}, x.shape(), [options = options_](const Values& xs) {
    const Value scaled = xs[0] * options.scale;
    return options.offset == 0 ? scaled : scaled + options.offset;
  });
}

}  // namespace mezzo
