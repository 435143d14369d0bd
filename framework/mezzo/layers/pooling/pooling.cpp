#include <mezzo/layers/pooling/pooling.hpp>

#include <numeric>

#include <mezzo/core/fail.hpp>
#include <mezzo/layers/axes.hpp>
#include <mezzo/layers/pooling/average_pooling2d.hpp>
#include <mezzo/layers/pooling/global_average_pooling1d.hpp>
#include <mezzo/layers/pooling/max_pooling2d.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/nn/masks.hpp>
#include <mezzo/ops/reductions.hpp>
#include <mezzo/ops/spatial.hpp>

namespace mezzo {
namespace detail {
namespace {

Value pool_windows(Pooled by, const Value& x, const PoolingOptions& options) {
  const PoolOpOptions numbers{.strides = options.strides, .padding = options.padding};
  return by == Pooled::max ? max_pool(x, options.pool_size, numbers) : average_pool(x, options.pool_size, numbers);
}

Value pool_windows(Pooled, const Value& x, const MaxPooling2DOptions& options) {
  return max_pool2d(x, {.pool_size = options.pool_size, .strides = options.strides, .padding = options.padding});
}

Value pool_windows(Pooled, const Value& x, const AveragePooling2DOptions& options) {
  return avg_pool2d(x, {.pool_size = options.pool_size, .strides = options.strides, .padding = options.padding});
}

void require_pool_padding(const std::string&, const Padding&) {}
void require_pool_padding(const std::string& where, const std::string& padding) { is_same(where, padding); }

}  // namespace

template <Pooled By, std::size_t Axes>
PoolingLayer<By, Axes>::PoolingLayer(Options options) : Layer(kind, options), options_(std::move(options)) {
  one_for_each(label(), "pool_size", options_.pool_size, Axes);
  if (!options_.strides.empty()) one_for_each(label(), "strides", options_.strides, Axes);
  require_pool_padding(label(), options_.padding);
}

template <Pooled By, std::size_t Axes>
Value PoolingLayer<By, Axes>::call(const Value& x) {
  require_spatial(label(), x.shape(), Axes);
  return pool_windows(By, x, options_);
}

template <Pooled By, std::size_t Axes>
Value GlobalPoolingLayer<By, Axes>::call(const Value& x) {
  require_spatial(label(), x.shape(), Axes);
  Shape axes(Axes);
  std::iota(axes.begin(), axes.end(), 1);
  if (By == Pooled::max) return max(x, {.axes = axes, .keepdims = options_.keepdims});
  return mean(x, {.axes = axes, .keepdims = options_.keepdims});
}

template <Pooled By, std::size_t Axes>
AdaptivePoolingLayer<By, Axes>::AdaptivePoolingLayer(Options options)
    : Layer(kind, options), options_(std::move(options)) {
  one_for_each(label(), "output_size", options_.output_size, Axes);
}

template <Pooled By, std::size_t Axes>
Value AdaptivePoolingLayer<By, Axes>::call(const Value& x) {
  require_spatial(label(), x.shape(), Axes);
  return By == Pooled::max ? adaptive_max_pool(x, options_.output_size)
                           : adaptive_average_pool(x, options_.output_size);
}

template class PoolingLayer<Pooled::average, 1>;
template class PoolingLayer<Pooled::average, 2>;
template class PoolingLayer<Pooled::average, 3>;
template class PoolingLayer<Pooled::max, 1>;
template class PoolingLayer<Pooled::max, 2>;
template class PoolingLayer<Pooled::max, 3>;
template class GlobalPoolingLayer<Pooled::average, 2>;
template class GlobalPoolingLayer<Pooled::average, 3>;
template class GlobalPoolingLayer<Pooled::max, 1>;
template class GlobalPoolingLayer<Pooled::max, 2>;
template class GlobalPoolingLayer<Pooled::max, 3>;
template class AdaptivePoolingLayer<Pooled::average, 1>;
template class AdaptivePoolingLayer<Pooled::average, 2>;
template class AdaptivePoolingLayer<Pooled::average, 3>;
template class AdaptivePoolingLayer<Pooled::max, 1>;
template class AdaptivePoolingLayer<Pooled::max, 2>;
template class AdaptivePoolingLayer<Pooled::max, 3>;

}  // namespace detail

Value GlobalAveragePooling1D::call(const Value& x) {
  detail::require_rank(label(), x.shape(), 3, "(batch, steps, features)");
  const Value mask = x.mask();
  if (!mask.defined()) {
    if (x.shape()[1] == 0) {
      fail<ShapeError>(label(), "a sequence without steps has no mean; got shape {}", x.shape());
    }
    return mean(x, {.axes = {1}, .keepdims = options_.keepdims});
  }
  const Value steps = detail::mask_of_rank(mask, 3), kept = where(steps, x, 0.0);
  const Value wide = cast(kept, accumulation_dtype(kept.dtype()));
  const Value count = sum(cast(steps, wide.dtype()), {.axes = {1}, .keepdims = options_.keepdims});
  return cast(sum(wide, {.axes = {1}, .keepdims = options_.keepdims}) / maximum(count, 1.0), kept.dtype());
}

}  // namespace mezzo
