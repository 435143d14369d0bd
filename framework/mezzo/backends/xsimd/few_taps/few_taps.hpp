#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// A convolution whose sums have few terms, such as that of a first layer: 3 x 3 pixels of one channel.
struct FewTapsShape {
  std::int64_t height, width, channels;         ///< of an image
  std::int64_t out_height, out_width, filters;  ///< of an output
  std::int64_t kernel_height, kernel_width;
  std::int64_t down, across;  ///< strides
  std::int64_t top, left;     ///< padding

  std::int64_t taps() const { return kernel_height * kernel_width * channels; }
  /// Numbers of a padded row.
  std::int64_t row() const { return ((out_width - 1) * across + kernel_width) * channels; }
};

/// Most terms of a sum: rows and columns of the kernel times channels.
constexpr std::int64_t most_taps = 12;

struct FewTapsFunctions {
  /// Computes rows of y: max(least, convolution of x + bias). `x` has the padded rows under them. `kernel` is (taps,
  /// filters), `bias` (filters,).
  using Convolve = void (*)(const FewTapsShape& shape, const float* x, const float* kernel, const float* bias,
                            float least, void* y, std::int64_t rows);

  /// sums (taps, filters) += the gradient of the kernel from rows of g. `x` has the padded rows under them.
  using KernelGradient = void (*)(const FewTapsShape& shape, const float* x, const void* g, float* sums,
                                  std::int64_t rows);

  PerStorage<Convolve> convolve;
  PerStorage<KernelGradient> kernel_gradient;
};

MEZZO_ISA_TABLE(FewTapsFunctions, few_taps)

Entries few_taps_entries();

}  // namespace mezzo::xsimd_kernels
