#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// On dense arrays of `rows` rows of `columns` channels.
struct BiasGradientFunctions {
  /// out = g where y > 0, else 0, and of each column its sum; out may be y or g.
  using ReluSums = void (*)(const void* y, const void* g, void* out, std::int64_t rows, std::int64_t columns,
                            double* sums);
  PerStorage<ReluSums> relu_sums;
};

namespace sse2 {
extern const BiasGradientFunctions bias_gradient;
}
namespace avx2 {
extern const BiasGradientFunctions bias_gradient;
}
namespace avx512 {
extern const BiasGradientFunctions bias_gradient;
}
namespace avx512_bf16 {
extern const BiasGradientFunctions bias_gradient;
}

}  // namespace mezzo::xsimd_kernels
