#include <mezzo/metrics/sparse_categorical_accuracy.hpp>

#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/losses/targets.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {

Value sparse_categorical_accuracy(const Value& y_true, const Value& y_pred) {
  const Targets targets = class_labels("sparse_categorical_accuracy", y_true, y_pred);
  const LibraryScope as_inserted;
  return per_sample(cast(equal(targets.y_true, argmax(targets.y_pred)), DType::float32));
}

}  // namespace mezzo
