#include <mezzo/layers/average_pooling2d.hpp>

namespace mezzo {

AveragePooling2D::AveragePooling2D(AveragePooling2DOptions options)
    : Layer("AveragePooling2D", options), options_(std::move(options)) {
  options_.pool_size.pair(label(), "pool_size");
  if (!options_.strides.empty()) options_.strides.pair(label(), "strides");
}

Value AveragePooling2D::call(const Value& x) {
  return avg_pool2d(x, {.pool_size = options_.pool_size, .strides = options_.strides, .padding = options_.padding});
}

}  // namespace mezzo
