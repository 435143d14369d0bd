#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// On dense arrays of `rows` rows of `columns` channels.
struct BatchNormFunctions {
  /// The mean of each column over a few rows evenly spaced: something near the mean of all.
  using SampleMean = void (*)(const void* x, std::int64_t rows, std::int64_t columns, float* mean);

  /// Of each column the sum of x - about, and of its squares.
  using Sums = void (*)(const void* x, const float* about, std::int64_t rows, std::int64_t columns, double* sums,
                        double* squares);

  /// y = (x - mean) * scale + shift + residual, if there is one, but not below `least`; y may be x or the residual.
  using Normalize = void (*)(const void* x, const void* residual, void* y, const float* mean, const float* scale,
                             const float* shift, float least, std::int64_t rows, std::int64_t columns);

  /// Of each column the sums of g and of g * (x - mean), g being 0 where y, if there is one, isn't above 0. Such a g is
  /// written to `masked`, if there is one, which may be g.
  using GradientSums = void (*)(const void* g, const void* y, const void* x, const float* mean, void* masked,
                                std::int64_t rows, std::int64_t columns, double* sums, double* products);

  /// dx = from_g * g + from_x * (x - mean) + shift, with the same g; dx may be g, x or y.
  using Gradient = void (*)(const void* g, const void* y, const void* x, void* dx, const float* mean,
                            const float* from_g, const float* from_x, const float* shift, std::int64_t rows,
                            std::int64_t columns);

  PerStorage<SampleMean> sample_mean;
  PerStorage<Sums> sums;
  PerStorage<Normalize> normalize;
  PerStorage<GradientSums> gradient_sums;
  PerStorage<Gradient> gradient;
};

namespace sse2 {
extern const BatchNormFunctions batch_norm;
}
namespace avx2 {
extern const BatchNormFunctions batch_norm;
}
namespace avx512 {
extern const BatchNormFunctions batch_norm;
}
namespace avx512_bf16 {
extern const BatchNormFunctions batch_norm;
}

}  // namespace mezzo::xsimd_kernels
