#include <mezzo/layers/global_average_pooling2d.hpp>

#include <mezzo/nn/checks.hpp>

namespace mezzo {

Value GlobalAveragePooling2D::call(const Value& x) {
  detail::require_rank(label(), x.shape(), 4, "(batch, height, width, channels)");
  return mean(x, {.axes = {1, 2}, .keepdims = options_.keepdims});
}

}  // namespace mezzo
