#include <mezzo/layers/average_pooling2d.hpp>
#include <mezzo/layers/global_average_pooling1d.hpp>
#include <mezzo/layers/global_average_pooling2d.hpp>
#include <mezzo/layers/max_pooling2d.hpp>
#include <mezzo/nn/checks.hpp>

namespace mezzo {

AveragePooling2D::AveragePooling2D(AveragePooling2DOptions options)
    : Layer("AveragePooling2D", options), options_(std::move(options)) {
  options_.pool_size.pair(label(), "pool_size");
  if (!options_.strides.empty()) options_.strides.pair(label(), "strides");
}

Value AveragePooling2D::call(const Value& x) {
  return avg_pool2d(x, {.pool_size = options_.pool_size, .strides = options_.strides, .padding = options_.padding});
}

Value GlobalAveragePooling1D::call(const Value& x) {
  detail::require_rank(label(), x.shape(), 3, "(batch, steps, features)");
  return mean(x, {.axes = {1}, .keepdims = options_.keepdims});
}

Value GlobalAveragePooling2D::call(const Value& x) {
  detail::require_rank(label(), x.shape(), 4, "(batch, height, width, channels)");
  return mean(x, {.axes = {1, 2}, .keepdims = options_.keepdims});
}

MaxPooling2D::MaxPooling2D(MaxPooling2DOptions options) : Layer("MaxPooling2D", options), options_(std::move(options)) {
  options_.pool_size.pair(label(), "pool_size");
  if (!options_.strides.empty()) options_.strides.pair(label(), "strides");
}

Value MaxPooling2D::call(const Value& x) {
  return max_pool2d(x, {.pool_size = options_.pool_size, .strides = options_.strides, .padding = options_.padding});
}

}  // namespace mezzo
