#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Operands of a gradient: rows of a cotangent g and of x, and how an epilogue masks g. g counts as 0 where the output
/// y is at a limit. y is read from memory, or computed as (x - mean) * scale + shift if `scale` isn't null. If both are
/// null, g isn't masked. A limit may be NaN: none.
struct NormCotangent {
  const void* g;
  const void* x;
  const void* y;
  const float *mean, *scale, *shift;
  float least, most;
};

/// Functions on dense arrays of `rows` rows of `columns` channels.
struct BatchNormFunctions {
  /// The mean of each column over a few evenly spaced rows, which is near the mean over all rows.
  using SampleMean = void (*)(const void* x, std::int64_t rows, std::int64_t columns, float* mean);

  /// The sum of x - about for each column, and the sum of its squares.
  using Sums = void (*)(const void* x, const float* about, std::int64_t rows, std::int64_t columns, double* sums,
                        double* squares);

  /// y = (x - mean) * scale + shift + residual, at least `least` and at most `most`. `residual` may be null, limits NaN
  /// for none. y may be x or the residual. With `past_caches`, y is written without being read to the caches; its rows
  /// are whole cache lines.
  using Normalize = void (*)(const void* x, const void* residual, void* y, const float* mean, const float* scale,
                             const float* shift, float least, float most, std::int64_t rows, std::int64_t columns,
                             bool past_caches);

  /// The sums of the masked g and of g * (x - mean) for each column. If `masked` isn't null, the masked g is written to
  /// it; it may be g's memory.
  using GradientSums = void (*)(const NormCotangent& of, void* masked, std::int64_t rows, std::int64_t columns,
                                double* sums, double* products);

  /// dx = from_g * masked g + from_x * (x - mean) + add. dx may be g, x or y.
  using Gradient = void (*)(const NormCotangent& of, void* dx, const float* from_g, const float* from_x,
                            const float* add, std::int64_t rows, std::int64_t columns);

  PerStorage<SampleMean> sample_mean;
  PerStorage<Sums> sums;
  PerStorage<Normalize> normalize;
  PerStorage<GradientSums> gradient_sums;
  PerStorage<Gradient> gradient;
};

MEZZO_ISA_TABLE(BatchNormFunctions, batch_norm)

Entries batch_norm_entries();

}  // namespace mezzo::xsimd_kernels
