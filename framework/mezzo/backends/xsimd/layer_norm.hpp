#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// On dense arrays of `rows` rows of `columns`, which are normalized together.
struct LayerNormFunctions {
  /// y = gamma (x - mean) inverse + beta; mean and inverse = 1 / sqrt(variance + epsilon) are written, one for each
  /// row. y may be x.
  using Normalize = void (*)(const void* x, const float* gamma, const float* beta, void* y, float* mean, float* inverse,
                             double epsilon, std::int64_t rows, std::int64_t columns);

  /// dx, which may be g or x; and the sums over the rows of g (x - mean) inverse, and of g. `partial` is space for two
  /// floats of each column.
  using Gradient = void (*)(const void* g, const void* x, const float* gamma, const float* mean, const float* inverse,
                            void* dx, double* dgamma, double* dbeta, float* partial, std::int64_t rows,
                            std::int64_t columns);

  PerStorage<Normalize> normalize;
  PerStorage<Gradient> gradient;
};

namespace sse2 {
extern const LayerNormFunctions layer_norm;
}
namespace avx2 {
extern const LayerNormFunctions layer_norm;
}
namespace avx512 {
extern const LayerNormFunctions layer_norm;
}
namespace avx512_bf16 {
extern const LayerNormFunctions layer_norm;
}

}  // namespace mezzo::xsimd_kernels
