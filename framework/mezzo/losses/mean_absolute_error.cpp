#include <mezzo/losses/mean_absolute_error.hpp>

#include <mezzo/graph/cast_scope.hpp>
#include <mezzo/losses/targets.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo {

Value mean_absolute_error(const Value& y_true, const Value& y_pred) {
  const Targets targets = same_shape_targets("mean_absolute_error", y_true, y_pred);
  const LibraryScope as_inserted;
  return per_sample(abs(targets.y_true - targets.y_pred));
}

}  // namespace mezzo
