#include <mezzo/layers/core/masking.hpp>

#include <mezzo/nn/checks.hpp>

namespace mezzo {

Value Masking::call(const Value& x) {
  detail::require_rank_at_least(label(), x.shape(), 1);
  const Value mask = any(not_equal(x, mask_value_), {.axes = {-1}});
  return where(expand_dims(mask, -1), x, 0.0).with_mask(mask);
}

}  // namespace mezzo
