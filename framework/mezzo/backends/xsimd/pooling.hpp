#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Windows along one axis of images. `padding` is the number of pixels added before the image.
struct PoolAxis {
  std::int64_t size, out_size, window, stride, padding;
};

struct PoolShape {
  PoolAxis vertical, horizontal;
  std::int64_t channels;
};

struct MaxPool2dFunctions {
  /// Computes rows [begin, end) of y; row i of image n is row n * vertical.out_size + i. Also stores the row-major
  /// position of each maximum in its window to `places`. A window has at most 256 positions.
  using Pool = void (*)(const void* x, void* y, std::uint8_t* places, const PoolShape& shape, std::int64_t begin,
                        std::int64_t end);

  /// Computes rows [begin, end) of dx; row i of image n is row n * vertical.size + i. Each element of dx is the sum of
  /// g over the windows whose maximum it is.
  using Gradient = void (*)(const void* g, const std::uint8_t* places, void* dx, const PoolShape& shape,
                            std::int64_t begin, std::int64_t end);

  PerStorage<Pool> pool;
  PerStorage<Gradient> gradient;
};

struct AvgPool2dFunctions {
  /// Rows as in MaxPool2dFunctions. With `count_padding` every sum is divided by the size of the whole window, else by
  /// the size of its part inside the image. For the gradient, x is g and y is dx.
  using Pool = void (*)(const void* x, void* y, const PoolShape& shape, bool count_padding, std::int64_t begin,
                        std::int64_t end);

  PerStorage<Pool> pool;
  PerStorage<Pool> gradient;
};

MEZZO_ISA_TABLE(MaxPool2dFunctions, max_pool2d)
MEZZO_ISA_TABLE(AvgPool2dFunctions, avg_pool2d)

Entries pooling_entries();

}  // namespace mezzo::xsimd_kernels
