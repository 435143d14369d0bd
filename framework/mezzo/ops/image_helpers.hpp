#pragma once
#include <functional>
#include <string>

#include <mezzo/core/shape.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo::detail {

/// Calls function(images with a batch axis, further inputs) and removes the batch axis if `images` has none. In a
/// functional graph it is called when the batch size is known; `shape` is the shape of the result for images with a
/// batch axis. Throws a ShapeError unless images have 3 axes, or 4 with the batch; `spatial` is 3 for volumes.
Value of_images(const char* name, const Value& images, const Values& further, const Shape& shape, DType dtype,
                const std::function<Value(const Values&)>& function, std::size_t spatial = 2);

/// Shape of images with a batch axis.
Shape with_batch(const Value& images, std::size_t spatial = 2);

/// Dtype of results of images that become floats.
DType float_of(const Value& images);

/// Flat indices of the elements of windows over axes of `sizes`: shape (positions..., window...), or windows first.
Tensor window_indices(const Shape& sizes, const Shape& window, const Shape& strides, const Shape& dilation,
                      bool windows_first, Shape& positions);

/// Convolution of each channel of (N, H, W, C) with one kernel (height, width).
Value filtered(const Value& images, const Tensor& kernel, const char* padding);

/// Gaussian weights of sum 1, float64.
Tensor gaussian(std::int64_t size, double sigma);

}  // namespace mezzo::detail
