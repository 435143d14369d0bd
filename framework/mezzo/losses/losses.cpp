#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/losses/mean_absolute_error.hpp>
#include <mezzo/losses/mean_squared_error.hpp>
#include <mezzo/losses/sparse_categorical_crossentropy.hpp>
#include <mezzo/losses/targets.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {

Value mean_absolute_error(const Value& y_true, const Value& y_pred) {
  const Targets targets = same_shape_targets("mean_absolute_error", y_true, y_pred);
  const LibraryScope as_inserted;
  return per_sample(abs(targets.y_true - targets.y_pred));
}

Value mean_squared_error(const Value& y_true, const Value& y_pred) {
  const Targets targets = same_shape_targets("mean_squared_error", y_true, y_pred);
  const LibraryScope as_inserted;
  const Value difference = targets.y_true - targets.y_pred;
  return per_sample(difference * difference);
}

Value sparse_categorical_crossentropy(const Value& y_true, const Value& y_pred, const CrossentropyOptions& options) {
  const Targets targets = class_labels("sparse_categorical_crossentropy", y_true, y_pred);
  return per_sample(sparse_crossentropy(targets.y_true, targets.y_pred, options.from_logits));
}

}  // namespace mezzo
