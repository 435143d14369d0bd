#pragma once
#include <cstdint>

#include <mezzo/core/shape.hpp>
#include <mezzo/precision/quantized_form.hpp>

namespace mezzo::detail {

/// True if a convolution with this kernel (height, width, channels / groups, filters) in this form can multiply codes
/// of images, and that is faster than multiplying floats.
inline bool takes_image_codes(const Shape& kernel, const QuantizedForm& form) {
  constexpr std::int64_t fewest = 16;  // channels and filters
  return form.mode == QuantizationMode::int8 && kernel[2] >= fewest && kernel[3] >= fewest;
}

}  // namespace mezzo::detail
