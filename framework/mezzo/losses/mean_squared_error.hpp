#pragma once
#include <mezzo/nn/loss.hpp>

namespace mezzo {

/// The mean of (y_true - y_pred)^2 of each sample, in at least float32.
Value mean_squared_error(const Value& y_true, const Value& y_pred);

namespace losses {

struct MeanSquaredErrorOptions {
  std::string name = "mean_squared_error";
};

/// mean_squared_error as a loss.
class MeanSquaredError : public Loss {
 public:
  explicit MeanSquaredError(MeanSquaredErrorOptions options = {}) : Loss(std::move(options.name)) {}
  Value call(const Value& y_true, const Value& y_pred) const override { return mean_squared_error(y_true, y_pred); }
};

}  // namespace losses

using losses::MeanSquaredError;

}  // namespace mezzo
