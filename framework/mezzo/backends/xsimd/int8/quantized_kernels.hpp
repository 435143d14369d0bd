#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <mezzo/backends/xsimd/int8/few_codes.hpp>
#include <mezzo/compiler/kernel.hpp>
#include <mezzo/core/isa.hpp>
#include <mezzo/graph/codes.hpp>

namespace mezzo::xsimd_kernels {

/// Sizes and form of a quantized_matmul.
struct QuantizedProduct {
  std::int64_t rows = 0, depth = 0, columns = 0;
  DType dtype = DType::float32;
  std::int64_t bits = 8, block = -1;  ///< block: inputs with one scale; -1: all
  bool nf4 = false;                   ///< codes of 4 bits are positions in nf4_values
  bool transposed = false;            ///< codes are (columns, depth)
  bool quantizes = false;             ///< rows of x are quantized
  bool has_factor = false;            ///< by the factor in the last input

  /// Bytes of a row of codes.
  std::int64_t pitch() const { return detail::bytes_of_codes(transposed ? depth : columns, bits); }
  bool has_zero() const { return block > 0 && !nf4; }
  /// Number of the input with the factor.
  std::size_t factor() const { return has_zero() ? 4 : 3; }
};

/// Keras' term of the largest magnitude of a row that is quantized.
constexpr float quantization_epsilon = 1e-7F;

/// Longest transposed sums of codes that are exact in float32 for each lane of a register.
constexpr std::int64_t most_table_terms = 4096;

/// The kernel for at most FewCodes::most_rows rows, on any instruction set.
std::unique_ptr<Kernel> few_codes_kernel(const QuantizedProduct& product, Isa isa);

}  // namespace mezzo::xsimd_kernels
