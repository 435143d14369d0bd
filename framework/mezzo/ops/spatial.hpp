#pragma once
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>
#include <mezzo/ops/ints.hpp>

// Convolutions and pooling of keras.ops for 1, 2 and 3 spatial axes, channels last: x is (N, L, C), (N, H, W, C) or
// (N, D, H, W, C). The batch size may be unknown in functional models; the other sizes may not. Each option is one
// number for all spatial axes or one number for each. Padding "valid" adds nothing; "same" makes ceil(size / stride)
// outputs, as TensorFlow: an odd element of padding goes to the end. All functions throw a ShapeError for operands that
// don't fit, a ValueError for numbers out of range, and a NameError for another padding.
namespace mezzo {

/// Options of conv, depthwise_conv and separable_conv.
struct ConvOpOptions {
  detail::Ints strides = 1;        ///< distance of outputs in elements of x
  std::string padding = "valid";   ///< "valid" or "same"
  detail::Ints dilation_rate = 1;  ///< distance of kernel elements in elements of x
};

/// @name Convolutions
/// @{
/// Convolution by a kernel (spatial axes..., C / groups, F): (N, spatial axes..., F). The number of groups follows from
/// the shape of the kernel. Throws a ShapeError unless C is a multiple of the kernel's channels and F one of groups.
MEZZO_API Value conv(const Value& x, const Value& kernel, const ConvOpOptions& options = {});

/// Convolution of each channel by kernels of its own: a kernel (spatial axes..., C, M) makes C M channels, those of the
/// first channel first.
MEZZO_API Value depthwise_conv(const Value& x, const Value& kernel, const ConvOpOptions& options = {});

/// depthwise_conv by a kernel (spatial axes..., C, M), followed by a convolution by a kernel (1..., C M, F).
MEZZO_API Value separable_conv(const Value& x, const Value& depthwise_kernel, const Value& pointwise_kernel,
                               const ConvOpOptions& options = {});

/// Options of conv_transpose.
struct ConvTransposeOpOptions {
  detail::Ints strides = 1;                      ///< distance of elements of x in the output
  std::string padding = "valid";                 ///< "valid" or "same": the output is x times strides
  detail::Ints output_padding = detail::Ints();  ///< elements added to the end of the output, less than strides; not
                                                 ///< given: determined by `padding`
  detail::Ints dilation_rate = 1;                ///< distance of kernel elements in the output
};

/// Transposed convolution by a kernel (spatial axes..., F, C): the gradient of a convolution for its input. With
/// effective kernel k = dilation_rate (kernel - 1) + 1 and stride s, a size n becomes n s ("same"), (n - 1) s +
/// max(k, s) ("valid"), or, with output_padding p, (n - 1) s + k % 2 + p ("same") and (n - 1) s + k + p ("valid").
MEZZO_API Value conv_transpose(const Value& x, const Value& kernel, const ConvTransposeOpOptions& options = {});
/// @}

/// Options of average_pool and max_pool.
struct PoolOpOptions {
  detail::Ints strides = detail::Ints();  ///< distance of windows in elements of x; default: pool_size
  std::string padding = "valid";          ///< "valid" or "same"
};

/// @name Pooling
/// @{
/// Mean of each window; padding doesn't count.
MEZZO_API Value average_pool(const Value& x, const detail::Ints& pool_size, const PoolOpOptions& options = {});

/// Maximum of each window; padding doesn't count.
MEZZO_API Value max_pool(const Value& x, const detail::Ints& pool_size, const PoolOpOptions& options = {});

/// Means of output_size windows along each spatial axis: for n elements and o outputs, window i has the elements from
/// floor(i n / o) up to, but without, ceil((i + 1) n / o). Windows overlap unless o divides n.
MEZZO_API Value adaptive_average_pool(const Value& x, const detail::Ints& output_size);

/// Maxima of the windows of adaptive_average_pool.
MEZZO_API Value adaptive_max_pool(const Value& x, const detail::Ints& output_size);
/// @}

}  // namespace mezzo
