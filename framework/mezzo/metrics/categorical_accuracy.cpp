#include <mezzo/metrics/categorical_accuracy.hpp>

#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/losses/targets.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {

Value categorical_accuracy(const Value& y_true, const Value& y_pred) {
  const Targets targets = same_shape_targets("categorical_accuracy", y_true, y_pred);
  const LibraryScope as_inserted;
  return per_sample(cast(equal(argmax(targets.y_true), argmax(targets.y_pred)), DType::float32));
}

}  // namespace mezzo
