#pragma once
#include <cstdint>
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/core/shape.hpp>
#include <mezzo/graph/attributes.hpp>
#include <mezzo/graph/value.hpp>
#include <mezzo/ops/conv2d.hpp>

namespace mezzo::detail {

/// conv2d() with a layer's kernel. Under a policy whose products() are int8, images and filters are quantized to int8
/// (core/int8_scale.hpp) if takes_int8_convolution(): each image and each filter has a scale. So are, in the gradient
/// of x, the cotangents of each image and each channel of the kernel if there are no strides, padding is at most
/// dilation (kernel size - 1), and takes_int8_convolution() is true for the turned kernel, (height, width, filters,
/// channels), and a window for each pixel of x. The gradient of the kernel is computed in the compute dtype.
MEZZO_API Value conv2d_of_kernel(const Value& x, const Value& kernel, const Conv2DOpOptions& options);

/// Fewest windows of an image, rows times columns of its output, in a convolution with products of int8.
constexpr std::int64_t fewest_int8_windows = 49;

/// True if convolutions with a kernel (height, width, channels / groups, filters) are faster with products of int8:
/// `groups` is 1, channels and filters are multiples of 4 from 32 on, sums have 128 to 65,536 terms, and an image has
/// at least fewest_int8_windows.
MEZZO_API bool takes_int8_convolution(const Shape& kernel, std::int64_t groups, std::int64_t windows);

/// Padding of the convolution of the cotangents with the turned kernel that computes the gradient of the input of a
/// convolution with these attributes. None with strides, or with more padding than the kernel reaches.
std::optional<Shape> turned_padding(const Attributes& attributes, const Shape& kernel);

}  // namespace mezzo::detail
