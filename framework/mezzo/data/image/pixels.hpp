#pragma once
#include <mezzo/core/tensor.hpp>

// Loops over pictures (height, width, channels) of float32 or float64.
namespace mezzo::image::detail {

/// Calls function(T()) with the element type of the picture.
template <class F>
Tensor of_type(const Tensor& image, const F& function) {
  return image.dtype() == DType::float64 ? function(double{}) : function(float{});
}

/// function(x) of each element.
template <class F>
Tensor each_element(const Tensor& image, const F& function) {
  return of_type(image, [&](auto zero) {
    using T = decltype(zero);
    Tensor out = Tensor::uninitialized(image.shape(), image.dtype());
    const T* const from = image.data<T>();
    T* const to = out.template mutable_data<T>();
    for (std::int64_t i = 0; i < image.size(); ++i) to[i] = function(from[i]);
    return out;
  });
}

/// function(from, to) of each pixel of three channels.
template <class F>
Tensor each_color(const Tensor& image, const F& function) {
  return of_type(image, [&](auto zero) {
    using T = decltype(zero);
    Tensor out = Tensor::uninitialized(image.shape(), image.dtype());
    const T* from = image.data<T>();
    T* to = out.template mutable_data<T>();
    for (std::int64_t i = 0; i < image.size(); i += 3, from += 3, to += 3) function(from, to);
    return out;
  });
}

}  // namespace mezzo::image::detail
