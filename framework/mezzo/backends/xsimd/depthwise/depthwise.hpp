#pragma once
#include <cstdint>
#include <limits>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// A depthwise convolution with one filter a channel, or its transpose. Images are (N, H, W, C), dense.
struct DepthwiseShape {
  std::int64_t height, width;          ///< sizes of an image that is read
  std::int64_t out_height, out_width;  ///< sizes of an image that is written
  std::int64_t channels;
  std::int64_t taps;         ///< rows and columns of the kernel, 3 or 5
  std::int64_t stride;       ///< 1 or 2
  std::int64_t top, left;    ///< padding of the convolution's input
  bool transposed;           ///< computes the gradient of the input; with a stride of 2
  bool past_caches = false;  ///< the image is written without being read to the caches; its rows are whole cache lines
};

/// Most rows and columns of a kernel.
constexpr std::int64_t most_depthwise_taps = 5;

/// The rows of the images that a kernel reads.
struct DepthwiseRows {
  const void* images;  ///< later rows of it are prefetched
  /// Makes a row, counted over all images, that is valid for the next `taps` calls. Null: rows are read from `images`.
  const void* (*make)(void* context, std::int64_t row) = nullptr;
  void* context = nullptr;
};

/// Least and largest output; NaN is kept.
struct DepthwiseLimits {
  float least = -std::numeric_limits<float>::infinity(), most = std::numeric_limits<float>::infinity();
};

struct DepthwiseFunctions {
  /// Computes the rows [begin, end) of y, counted over all images: the convolution of x + bias, within the limits.
  /// `kernel` is (taps, taps, C), `zeros` has C zeros of x's dtype, `bias` is (C,).
  using Convolve = void (*)(const DepthwiseShape& shape, const DepthwiseRows& x, const float* kernel, const float* bias,
                            const DepthwiseLimits& limits, const void* zeros, void* y, std::int64_t begin,
                            std::int64_t end);

  /// sums (taps, taps, C) = the gradient of the kernel from the rows [begin, end) of g, counted over all images.
  /// `shape` is that of the convolution of x.
  using KernelGradient = void (*)(const DepthwiseShape& shape, const DepthwiseRows& x, const void* g, const void* zeros,
                                  float* sums, std::int64_t begin, std::int64_t end);

  PerStorage<Convolve> convolve;
  PerStorage<KernelGradient> kernel_gradient;
};

MEZZO_ISA_TABLE(DepthwiseFunctions, depthwise)

Entries depthwise_entries();

}  // namespace mezzo::xsimd_kernels
