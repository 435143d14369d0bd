#include <mezzo/layers/regularization/activity_regularization.hpp>

#include <cmath>

#include <mezzo/core/fail.hpp>

namespace mezzo {

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

}  // namespace mezzo
