#include <mezzo/layers/merging/concatenate.hpp>

#include <algorithm>

#include <mezzo/nn/checks.hpp>
#include <mezzo/nn/masks.hpp>

namespace mezzo {
namespace {

/// Mask of x without its last axis: of `mask`, or all true.
Value mask_of_steps(const Value& x, const Value& mask) {
  const std::size_t rank = x.shape().size();
  const auto last = [](const Value& of) { return any(of, {.axes = {-1}}); };
  if (!mask.defined()) return last(ones_like(x, DType::boolean));
  if (mask.shape().size() == rank) return last(mask);
  if (mask.shape().size() + 1 == rank) return mask;
  return last(logical_and(detail::mask_of_rank(mask, rank), ones_like(x, DType::boolean)));
}

}  // namespace

Values Concatenate::compute_mask(const Values& inputs, const Values& masks) const {
  if (std::none_of(masks.begin(), masks.end(), [](const Value& mask) { return mask.defined(); })) return {};
  const std::size_t rank = inputs.front().shape().size();
  const std::int64_t axis = detail::normalize_axis(axis_, rank, label());
  Values of_steps;
  for (std::size_t i = 0; i < inputs.size(); ++i) of_steps.push_back(mask_of_steps(inputs[i], masks[i]));
  if (axis + 1 == static_cast<std::int64_t>(rank)) return {detail::merged_mask(of_steps)};
  return {concat(of_steps, axis)};
}

}  // namespace mezzo
