#pragma once
#include <string>
#include <vector>

#include <mezzo/onnx/import_call.hpp>

namespace mezzo::detail {

/// Windows of a convolution or of pooling over the spatial axes of images.
struct OnnxWindows {
  Shape kernel, strides, dilations;
  Shape before, after;   ///< padding
  bool ceil = false;     ///< windows may reach beyond the end
  std::string auto_pad;  ///< "NOTSET": the padding is given

  std::size_t axes() const { return kernel.size(); }
  /// Elements that a window spans along an axis.
  std::int64_t reach(std::size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
  /// Number of windows along an axis of `size` elements.
  std::int64_t count(std::size_t axis, std::int64_t size) const;
};

/// Reads the attributes kernel_shape (default: `kernel`), strides, dilations, pads, auto_pad and ceil_mode for an image
/// whose spatial axes have these sizes.
OnnxWindows onnx_windows(OnnxCall& call, const Shape& sizes, const Shape& kernel);

/// Sizes of the spatial axes of input 0. A ValueError unless it has 1 to 3 of them.
Shape spatial_sizes(const OnnxCall& call);

/// x with the channels last and `value` around its spatial axes.
Value padded_last(const Value& x, const Shape& before, const Shape& after, double value = 0);

/// Puts the largest elements of windows, and as output 1 their places in the array. `after`: padding up to the end of
/// the last window. `columns_first`: places count along the first spatial axis first.
void run_max_pool_with_indices(OnnxCall& call, const OnnxWindows& windows, const Shape& after, bool columns_first);

}  // namespace mezzo::detail
