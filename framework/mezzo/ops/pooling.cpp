#include <mezzo/ops/pooling.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/padding.hpp>

namespace mezzo {

Shape detail::pooled_shape(const OpCall& call, const Shape& x) {
  const auto& window = call.attributes.get<Shape>("window");
  const auto& strides = call.attributes.get<Shape>("strides");
  const auto& padding = call.attributes.get<Shape>("padding");
  Shape out = x;
  for (std::size_t i = 0; i < 2; ++i) {
    if (2 * padding[2 * i] > window[i] || 2 * padding[2 * i + 1] > window[i] + 1) {
      fail<ValueError>(call.where, "padding must be at most half of the window {}; got {}", window, padding[2 * i]);
    }
    const std::int64_t room = out[i + 1] + padding[2 * i] + padding[2 * i + 1] - window[i];
    if (room < 0) {
      fail<ShapeError>(call.where, "input axis {} must be at least {} (pool_size {}); got shape {}", i + 1,
                       window[i] - padding[2 * i] - padding[2 * i + 1], window[i], x);
    }
    out[i + 1] = room / strides[i] + 1;
  }
  return out;
}

Attributes detail::pooling_attributes(const std::string& where, const Value& x, const detail::Ints& pool_size,
                                      const detail::Ints& strides, const detail::Padding& padding) {
  const Shape window = pool_size.pair(where, "pool_size");
  const Shape steps = strides.empty() ? window : strides.pair(where, "strides");
  Shape around(4, 0);
  if (x.shape().size() == 4)
    around = padding.resolve(where, {x.shape()[1].or_unknown(), x.shape()[2].or_unknown()}, window, steps, {1, 1});
  return {{"window", window}, {"strides", steps}, {"padding", around}};
}

}  // namespace mezzo
