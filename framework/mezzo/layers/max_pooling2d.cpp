#include <mezzo/layers/max_pooling2d.hpp>

namespace mezzo {

MaxPooling2D::MaxPooling2D(MaxPooling2DOptions options) : Layer("MaxPooling2D", options), options_(std::move(options)) {
  options_.pool_size.pair(label(), "pool_size");
  if (!options_.strides.empty()) options_.strides.pair(label(), "strides");
}

Value MaxPooling2D::call(const Value& x) {
  return max_pool2d(x, {.pool_size = options_.pool_size, .strides = options_.strides, .padding = options_.padding});
}

}  // namespace mezzo
