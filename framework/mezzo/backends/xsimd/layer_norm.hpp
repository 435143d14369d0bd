#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Functions on dense arrays of `rows` rows of `columns` elements; a row is normalized as a whole.
struct LayerNormFunctions {
  /// y = gamma (x - mean) inverse + beta. Writes mean and inverse = 1 / sqrt(variance + epsilon) of each row. y may be
  /// x.
  using Normalize = void (*)(const void* x, const float* gamma, const float* beta, void* y, float* mean, float* inverse,
                             double epsilon, std::int64_t rows, std::int64_t columns);

  /// Writes dx, which may be g or x, and for each column dgamma = sum of g (x - mean) inverse and dbeta = sum of g.
  /// `partial` is temporary memory: two floats for each column.
  using Gradient = void (*)(const void* g, const void* x, const float* gamma, const float* mean, const float* inverse,
                            void* dx, double* dgamma, double* dbeta, float* partial, std::int64_t rows,
                            std::int64_t columns);

  PerStorage<Normalize> normalize;
  PerStorage<Gradient> gradient;
};

MEZZO_ISA_TABLE(LayerNormFunctions, layer_norm)

Entries layer_norm_entries();

}  // namespace mezzo::xsimd_kernels
