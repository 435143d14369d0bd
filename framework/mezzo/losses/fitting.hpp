#pragma once
#include <string>

#include <mezzo/nn/loss.hpp>

namespace mezzo::detail {

struct FittingOptions {
  std::string reduction = "sum_over_batch_size";  ///< how the values become one number; see Loss
  std::string name = "crossentropy";              ///< name in logs and histories
};

/// Loss of the name "crossentropy": picks its kind by the shapes, as Keras does.
class FittingCrossentropy : public Loss {
 public:
  explicit FittingCrossentropy(const FittingOptions& options) : Loss(options) {}
  Value call(const Value& y_true, const Value& y_pred) const override;
};

}  // namespace mezzo::detail
