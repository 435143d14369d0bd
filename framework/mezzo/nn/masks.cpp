#include <mezzo/nn/masks.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

/// The inputs with the masks of the call.
Values Layer::masked(const Values& xs, const CallOptions& options) const {
  const Values& masks = options.mask.values();
  if (masks.size() > xs.size()) {
    fail<ValueError>(label(), "number of masks must be at most that of the inputs, {}; got {}", xs.size(),
                     masks.size());
  }
  Values out = xs;
  for (std::size_t i = 0; i < masks.size(); ++i) {
    if (!masks[i].defined()) continue;
    const bool is_bool = masks[i].dtype() == DType::boolean;
    out[i] = xs[i].with_mask(is_bool ? masks[i] : not_equal(masks[i], 0));
  }
  return out;
}

/// Sets the masks of the outputs. Called outside of the layer's frame, so that its last op remains its output.
void Layer::set_masks(const Values& xs, Values& out) {
  const auto has_mask = [](const Value& value) { return value.mask().defined(); };
  if (!supports_masking()) {
    const bool dropped = std::any_of(xs.begin(), xs.end(), has_mask) && std::none_of(out.begin(), out.end(), has_mask);
    if (!dropped || state_->warned_of_mask) return;
    state_->warned_of_mask = true;
    detail::warn(fmt::format(
        "{} does not support masks: the mask of its input is dropped, layers after it don't see it", label()));
    return;
  }
  if (std::all_of(out.begin(), out.end(), has_mask)) return;
  Values masks;
  for (const Value& x : xs) masks.push_back(x.mask());
  masks = compute_mask(xs, masks);
  for (std::size_t i = 0; i < out.size() && i < masks.size(); ++i) {
    if (!has_mask(out[i])) out[i] = out[i].with_mask(masks[i]);
  }
}

Values Layer::compute_mask(const Values&, const Values& masks) const { return masks; }

namespace detail {

Value mask_of_rank(const Value& mask, std::size_t rank) {
  Value out = mask;
  while (out.shape().size() < rank) out = expand_dims(out, -1);
  return out;
}

Value merged_mask(const Values& masks) {
  const auto defined = [](const Value& mask) { return mask.defined(); };
  if (masks.empty() || !std::all_of(masks.begin(), masks.end(), defined)) return {};
  Value merged = masks.front();
  for (std::size_t i = 1; i < masks.size(); ++i) merged = logical_or(merged, masks[i]);
  return merged;
}

}  // namespace detail

}  // namespace mezzo
