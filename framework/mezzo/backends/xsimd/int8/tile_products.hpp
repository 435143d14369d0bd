#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>
#include <mezzo/backends/xsimd/int8/int8_products.hpp>

namespace mezzo::xsimd_kernels {

/// Tiles of 32 x 32 numbers of a matrix that are quantized and packed. A panel has the codes of 32 columns: (tiles, 8,
/// 32, 4), in which four bytes are those of a column in four rows that follow each other. Codes of missing rows and
/// columns are 0.
struct TilesToCodes {
  const void* from = nullptr;
  std::int64_t rows = 0, columns = 0;
  std::int64_t tile = 0;           ///< of rows
  std::int64_t column = 0;         ///< first one
  std::uint8_t* to = nullptr;      ///< panel 0
  float* scales = nullptr;         ///< (panels, tiles)
  std::int32_t* starts = nullptr;  ///< (panels, tiles, 32): first values of sums, see TileProduct; gradients alone
  std::uint64_t stream = 0;        ///< of detail::TileNoise; gradients alone
};

/// Product of the panels of some inputs and of some gradients: out (rows, columns) is the sum over tiles of
/// sum * x_scale * g_scale. Each sum is an exact int32; it starts with -128 times the sum of the gradient's codes.
struct TileProduct {
  const std::uint8_t* x = nullptr;  ///< codes plus 128
  const float* x_scales = nullptr;  ///< by tile
  const std::uint8_t* g = nullptr;  ///< signed codes
  const float* g_scales = nullptr;
  const std::int32_t* starts = nullptr;
  std::int64_t tiles = 0;
  void* out = nullptr;
  std::int64_t out_width = 0;          ///< numbers from row to row
  std::int64_t rows = 0, columns = 0;  ///< at most 32 each
};

/// Functions for gradients of kernels by tiles. All are null below AVX-512; the CPU needs VNNI, too.
struct TileFunctions {
  using Quantize = void (*)(const TilesToCodes&);
  using Product = void (*)(const TileProduct&);
  PerOperand<Quantize> quantize_inputs;     ///< one tile, rounded half to even
  PerOperand<Quantize> quantize_gradients;  ///< the tiles of 64 columns, rounded stochastically
  PerOperand<Product> product;              ///< by the dtype of out
};

MEZZO_ISA_TABLE(TileFunctions, tile_products)

}  // namespace mezzo::xsimd_kernels
