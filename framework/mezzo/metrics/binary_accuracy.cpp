#include <mezzo/metrics/binary_accuracy.hpp>

#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/losses/targets.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {

Value binary_accuracy(const Value& y_true, const Value& y_pred, const ThresholdOptions& options) {
  const Targets targets = same_shape_targets("binary_accuracy", y_true, y_pred);
  const LibraryScope as_inserted;
  const Value above = relu(sign(targets.y_pred - options.threshold));
  return per_sample(cast(equal(targets.y_true, above), DType::float32));
}

}  // namespace mezzo
