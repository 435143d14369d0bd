#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Windows along one axis of images.
struct PoolAxis {
  std::int64_t size, out_size, window, stride, padding;
};

struct PoolShape {
  PoolAxis vertical, horizontal;
  std::int64_t channels;
};

struct MaxPool2dFunctions {
  /// Rows [begin, end) of the outputs of all images; row i of image n is row n * out_size + i.
  using Pool = void (*)(const void* x, void* y, std::uint8_t* places, const PoolShape& shape, std::int64_t begin,
                        std::int64_t end);

  /// Rows [begin, end) of the gradients of all images: each element gathers from the windows that contain it.
  using Gradient = void (*)(const void* g, const std::uint8_t* places, void* dx, const PoolShape& shape,
                            std::int64_t begin, std::int64_t end);

  PerStorage<Pool> pool;
  PerStorage<Gradient> gradient;
};

struct AvgPool2dFunctions {
  /// Rows as in MaxPool2dFunctions. With `count_padding` every sum is divided by the size of the whole window, else by
  /// the size of its part inside the image. Of the gradient, x is g and y is dx.
  using Pool = void (*)(const void* x, void* y, const PoolShape& shape, bool count_padding, std::int64_t begin,
                        std::int64_t end);

  PerStorage<Pool> pool;
  PerStorage<Pool> gradient;
};

MEZZO_ISA_TABLE(MaxPool2dFunctions, max_pool2d)
MEZZO_ISA_TABLE(AvgPool2dFunctions, avg_pool2d)

Entries pooling_entries();

}  // namespace mezzo::xsimd_kernels
