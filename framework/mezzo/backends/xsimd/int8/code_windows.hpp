#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>
#include <mezzo/backends/xsimd/int8/int8_products.hpp>

namespace mezzo::xsimd_kernels {

/// Numbers that are quantized with one scale.
struct NumbersToCodes {
  const void* from = nullptr;
  std::int64_t count = 0;
  float inverse = 0;   ///< multiplies numbers
  bool clips = false;  ///< codes are clipped to [-127, 127]
  std::int8_t* to = nullptr;
};

/// Windows of an image of codes times a panel of a kernel: out = limited(sum * scale * column scale + bias + residual).
/// Sums are exact int32.
///
/// A window has `segments` times `taps` pieces of 4 * words codes without gaps. The panel is that of PanelsToCodes for
/// a matrix whose rows are the places of all pieces.
struct WindowProduct {
  const std::int8_t* x = nullptr;
  std::int64_t x_width = 0;                                       ///< bytes from window to window, a multiple of 4
  std::int64_t segments = 1, x_segment = 0, taps = 1, x_tap = 0;  ///< numbers of pieces, and bytes between them
  std::int64_t words = 0;                                         ///< groups of four codes of a piece
  const std::int32_t* starts = nullptr;  ///< first value of each window's sum: -128 times the sum of its codes
  float scale = 0;                       ///< of the image's codes; NaN makes all outputs NaN
  const std::uint8_t* panel = nullptr;
  const float* column_scales = nullptr;  ///< a whole panel of numbers
  const float* bias = nullptr;           ///< likewise
  const void* residual = nullptr;        ///< laid out as out; null: none
  void* out = nullptr;
  std::int64_t out_width = 0;  ///< numbers from window to window
  std::int64_t rows = 0, columns = 0;
  float least = 0, most = 0;
};

/// Convolutions of codes of 8 bits. All are null below AVX-512; the CPU needs VNNI, too.
struct CodeWindowFunctions {
  using Largest = std::int32_t (*)(const void* from, std::int64_t count);
  using Quantize = void (*)(const NumbersToCodes&);
  using Sums = void (*)(const std::int8_t* codes, std::int64_t pixels, std::int64_t channels, std::int32_t* sums);
  using Product = void (*)(const WindowProduct&);
  PerOperand<Largest> largest;    ///< largest magnitude, as bits: they order NaN above infinity and that above numbers
  PerOperand<Quantize> quantize;  ///< writes no byte behind the codes
  Sums sums;                      ///< of the codes of each pixel
  PerOperand<Product> product;    ///< by the dtype of out
};

MEZZO_ISA_TABLE(CodeWindowFunctions, code_windows)

}  // namespace mezzo::xsimd_kernels
