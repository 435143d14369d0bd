#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/loss.hpp>

namespace mezzo {

/// Mean of (y_true - y_pred)^2 over the last axis: (batch, ..., n) to (batch, ...), in at least float32. A ShapeError
/// unless the shapes are equal; a last axis of size 1 that only one of them has is dropped.
MEZZO_API Value mean_squared_error(const Value& y_true, const Value& y_pred);

namespace losses {

struct MeanSquaredErrorOptions {
  std::string reduction = "sum_over_batch_size";  ///< how the values become one number; see Loss
  std::string name = "mean_squared_error";        ///< name in logs and histories
};

/// mean_squared_error as a loss.
class MEZZO_API MeanSquaredError : public Loss {
 public:
  explicit MeanSquaredError(const MeanSquaredErrorOptions& options = {}) : Loss(options) {}
  Value call(const Value& y_true, const Value& y_pred) const override { return mean_squared_error(y_true, y_pred); }
};

}  // namespace losses

using losses::MeanSquaredError;

}  // namespace mezzo
