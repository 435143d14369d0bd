#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Functions on dense arrays of `rows` rows of `columns` elements.
struct SoftmaxFunctions {
  /// The softmax of each row. y may be x.
  using Softmax = void (*)(const void* x, void* y, std::int64_t rows, std::int64_t columns);

  /// dx = y (g - sum of g y), with the sum over the row. dx may be y or g.
  using Gradient = void (*)(const void* y, const void* g, void* dx, std::int64_t rows, std::int64_t columns);

  PerStorage<Softmax> softmax, log_softmax;

  /// max(x - t, 0) for each row, with t such that the sum is 1. y may be x.
  PerStorage<Softmax> sparsemax;
  PerStorage<Gradient> gradient;
};

MEZZO_ISA_TABLE(SoftmaxFunctions, softmax)

Entries softmax_entries();

}  // namespace mezzo::xsimd_kernels
