#pragma once
#include <array>
#include <cstdint>

#include <mezzo/core/api.hpp>

namespace mezzo {

/// The numbers of the codes of NF4, 4-bit NormalFloat: quantiles of a normal distribution in [-1, 1], with 0 (Dettmers
/// et al., 2023, "QLoRA", arXiv 2305.14314).
inline constexpr std::array<float, 16> nf4_values{
    -1.0F,        -0.69619280F, -0.52507305F, -0.39491749F, -0.28444138F, -0.18477343F, -0.091050036F, 0.0F,
    0.079580300F, 0.16093020F,  0.24611230F,  0.33791524F,  0.44070983F,  0.56261700F,  0.72295684F,   1.0F};

/// Elements of a block of NF4, which have a scale: the largest magnitude.
inline constexpr std::int64_t nf4_block = 64;

namespace detail {
/// Code of the number of NF4 nearest to x; of two equally near, the lower.
MEZZO_API std::uint8_t nf4_code(float x);
}  // namespace detail

/// Writes the codes of `count` numbers, two a byte with the first in the high bits, (count + 1) / 2 bytes, and the
/// scales of their blocks, (count + 63) / 64. Rounds to nearest. A block with a NaN or an infinity has the scale NaN.
MEZZO_API void nf4_encode(const float* numbers, std::int64_t count, std::uint8_t* codes, float* scales);

/// Writes the numbers of these codes and scales.
MEZZO_API void nf4_decode(const std::uint8_t* codes, const float* scales, std::int64_t count, float* numbers);

}  // namespace mezzo
