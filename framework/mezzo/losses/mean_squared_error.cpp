#include <mezzo/losses/mean_squared_error.hpp>

#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/losses/targets.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {

Value mean_squared_error(const Value& y_true, const Value& y_pred) {
  const Targets targets = same_shape_targets("mean_squared_error", y_true, y_pred);
  const LibraryScope as_inserted;
  const Value difference = targets.y_true - targets.y_pred;
  return per_sample(difference * difference);
}

}  // namespace mezzo
