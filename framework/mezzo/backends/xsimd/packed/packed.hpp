#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>
#include <mezzo/compiler/kernel.hpp>

namespace mezzo::xsimd_kernels {

/// A product of rows of x with a panel of a packed matrix, and what follows it: out = limits(x panel + bias +
/// residual), with NaN kept by the limits. x, residual and out have the function's storage type; sums are float32.
///
/// A row of x is `segments` pieces of `depth` numbers. Two numbers of 16 bits that follow each other are a pair: depth,
/// x_width and x_segment are even then.
struct PackedProduct {
  const void* x = nullptr;
  std::int64_t x_width = 0;  ///< numbers from row to row
  std::int64_t segments = 1, x_segment = 0, depth = 0;
  const void* panel = nullptr;     ///< (segments * depth, panel), packed as PackFunctions do
  const float* bias = nullptr;     ///< a whole panel of numbers
  const void* residual = nullptr;  ///< null: none; its rows are out_width numbers apart
  void* out = nullptr;
  std::int64_t out_width = 0;
  std::int64_t rows = 0, columns = 0;  ///< columns of the panel that are written
  bool few_rows = false;               ///< at most most_few_rows in all: several sums for each output
  float least = 0, most = 0;
};

/// Most rows of a product for which an output has several sums, since an addition takes the time of about eight.
constexpr std::int64_t most_few_rows = 3;

struct PackedFunctions {
  using Product = void (*)(const PackedProduct&);
  Product float32;
  Product bfloat16;  ///< null if the instruction set has no products of bfloat16
};

MEZZO_ISA_TABLE(PackedFunctions, packed)

/// True if the right operand of a product and its bias are constants.
bool has_constants(const KernelRequest& request);

/// Matrix products and convolutions with constant kernels and biases. Convolutions with strides whose kernels are not
/// constant, and gradients of their inputs.
Entries packed_entries();

}  // namespace mezzo::xsimd_kernels
