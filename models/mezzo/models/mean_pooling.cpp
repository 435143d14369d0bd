#include <mezzo/models/mean_pooling.hpp>

#include <mezzo/ops/ops.hpp>

namespace mezzo {

Value mean_pooling(const Value& states, const Value& attention_mask) {
  const Value used = cast(cast(attention_mask, DType::boolean), states.dtype());
  const Shape& shape = used.shape();
  const Value mask = reshape(used, {shape[0], shape[1], 1});
  const Value count = sum(mask, {.axes = {1}});
  return sum(states * mask, {.axes = {1}}) / where(equal(count, 0), 1, count);
}

}  // namespace mezzo
