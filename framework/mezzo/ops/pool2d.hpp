#pragma once
#include <cstdint>
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>
#include <mezzo/ops/ints.hpp>
#include <mezzo/ops/padding.hpp>

namespace mezzo {

/// Options of max_pool2d.
struct MaxPool2DOpOptions {
  detail::Ints pool_size = 2;             ///< height and width of the window in pixels
  detail::Ints strides = detail::Ints();  ///< step in pixels; default: pool_size
  detail::Padding padding = "valid";      ///< "valid", "same" or numbers of pixels
};

/// The maximum of each window of (N, H, W, C); padding counts as -infinity.
MEZZO_API Value max_pool2d(const Value& x, const MaxPool2DOpOptions& options = {});

/// Options of avg_pool2d.
struct AvgPool2DOpOptions {
  detail::Ints pool_size = 2;             ///< height and width of the window in pixels
  detail::Ints strides = detail::Ints();  ///< step in pixels; default: pool_size
  detail::Padding padding = "valid";      ///< "valid", "same" or numbers of pixels
  /// True: sums of windows at the border are divided by the whole window size; false: by the part inside the image.
  /// Default: true for padding by numbers (torch), false for "same" (Keras).
  std::optional<bool> count_padding{};
};

/// The mean of each window of (N, H, W, C), accumulated in float32 (float64 for float64).
MEZZO_API Value avg_pool2d(const Value& x, const AvgPool2DOpOptions& options = {});

}  // namespace mezzo
