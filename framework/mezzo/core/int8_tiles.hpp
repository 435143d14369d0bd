#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include <mezzo/core/int8_scale.hpp>
#include <mezzo/core/random.hpp>

// Quantization of the op tile_matmul: Xi et al., "Jetfire", 2024 (arXiv 2403.12422).
namespace mezzo::detail {

/// Rows and columns of a tile, which has one scale.
constexpr std::int64_t tile_size = 32;

inline std::int64_t tiles_of(std::int64_t size) { return (size + tile_size - 1) / tile_size; }

/// Random bytes of a matrix that is rounded stochastically. Four rows of a column share a word. Words are numbered
/// along rows that are filled to a multiple of 64 columns, so that kernels can make 64 at a time.
struct TileNoise {
  static constexpr std::int64_t group = 64;

  std::uint64_t stream = 0;
  std::int64_t columns = 0;

  static std::int64_t filled(std::int64_t columns) { return (columns + group - 1) / group * group; }

  /// A number in (0, 1), one of 256.
  float operator()(std::int64_t row, std::int64_t column) const {
    const auto word = static_cast<std::uint64_t>(row / 4 * filled(columns) + column);
    return of_byte((philox(stream, word / 4)[word % 4] >> (8 * static_cast<unsigned>(row % 4))) & 0xffU);
  }

  static float of_byte(std::uint32_t byte) { return (static_cast<float>(byte) + 0.5F) * 0x1p-8F; }
};

/// x / scale rounded down or up, up with the probability of its fraction: floor of the sum with noise in (0, 1).
inline float stochastic_code(const Int8Scale& scale, float x, float noise) {
  return scale.inverse > 0 ? std::clamp(std::floor(x * scale.inverse + noise), -127.0F, 127.0F) : 0;
}

}  // namespace mezzo::detail
