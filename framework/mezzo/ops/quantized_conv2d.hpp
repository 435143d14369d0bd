#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

#include <mezzo/graph/attributes.hpp>
#include <mezzo/graph/op.hpp>

namespace mezzo::detail {

/// Places of the operands of quantized_conv2d behind images, codes and scale, which not every form has.
struct QuantizedConv2DOperands {
  std::optional<std::size_t> factor, bias, residual;
  std::size_t count = 3;  ///< operands in all

  explicit QuantizedConv2DOperands(const Attributes& attributes) {
    if (attributes.get<std::string>("activations") == "static") factor = count++;
    if (attributes.get_or("bias", false)) bias = count++;
    if (attributes.get_or("residual", false)) residual = count++;
  }
};

/// Longest sums of the vectorized kernel: those of unsigned codes and of 128 times a window fit an int32, too.
constexpr std::int64_t most_window_terms = 65536;

/// Terms of these sums for a kernel (height, width, channels, filters): channels end with a whole word of codes.
inline std::int64_t window_terms(const Shape& kernel) { return kernel[0] * kernel[1] * ((kernel[2] + 3) / 4 * 4); }

}  // namespace mezzo::detail
