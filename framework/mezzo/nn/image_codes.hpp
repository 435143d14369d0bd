#pragma once
#include <cstdint>

#include <mezzo/core/shape.hpp>
#include <mezzo/ops/quantized_conv2d.hpp>
#include <mezzo/precision/quantized_form.hpp>

namespace mezzo::detail {

/// LayerState::content of a Conv2D with groups, whose products take floats.
struct ChannelGroups {};

/// True if a convolution with this kernel (height, width, channels / groups, filters) in this form can multiply codes
/// of images, and that is faster than multiplying floats. A convolution with groups can't.
inline bool takes_image_codes(const Shape& kernel, const QuantizedForm& form) {
  constexpr std::int64_t fewest = 16;  // channels and filters
  return form.mode == QuantizationMode::int8 && kernel[2] >= fewest && kernel[3] >= fewest &&
         window_terms(kernel) <= most_window_terms;
}

}  // namespace mezzo::detail
