#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Functions on dense arrays of `rows` rows of `columns` channels.
struct BatchNormFunctions {
  /// The mean of each column over a few evenly spaced rows, which is near the mean over all rows.
  using SampleMean = void (*)(const void* x, std::int64_t rows, std::int64_t columns, float* mean);

  /// The sum of x - about for each column, and the sum of its squares.
  using Sums = void (*)(const void* x, const float* about, std::int64_t rows, std::int64_t columns, double* sums,
                        double* squares);

  /// y = max(least, (x - mean) * scale + shift + residual). `residual` may be null. y may be x or the residual.
  using Normalize = void (*)(const void* x, const void* residual, void* y, const float* mean, const float* scale,
                             const float* shift, float least, std::int64_t rows, std::int64_t columns);

  /// The sums of g and of g * (x - mean) for each column. If y isn't null, g counts as 0 where y <= 0; if `masked`
  /// isn't null, that masked g is written to it. `masked` may be g.
  using GradientSums = void (*)(const void* g, const void* y, const void* x, const float* mean, void* masked,
                                std::int64_t rows, std::int64_t columns, double* sums, double* products);

  /// dx = from_g * g + from_x * (x - mean) + shift, with the same masked g. dx may be g, x or y.
  using Gradient = void (*)(const void* g, const void* y, const void* x, void* dx, const float* mean,
                            const float* from_g, const float* from_x, const float* shift, std::int64_t rows,
                            std::int64_t columns);

  PerStorage<SampleMean> sample_mean;
  PerStorage<Sums> sums;
  PerStorage<Normalize> normalize;
  PerStorage<GradientSums> gradient_sums;
  PerStorage<Gradient> gradient;
};

MEZZO_ISA_TABLE(BatchNormFunctions, batch_norm)

Entries batch_norm_entries();

}  // namespace mezzo::xsimd_kernels
