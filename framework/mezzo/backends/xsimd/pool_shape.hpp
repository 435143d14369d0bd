#pragma once
#include <cstdint>

namespace mezzo::xsimd_kernels {

/// Windows along one axis of images.
struct PoolAxis {
  std::int64_t size, out_size, window, stride, padding;
};

struct PoolShape {
  PoolAxis vertical, horizontal;
  std::int64_t channels;
};

}  // namespace mezzo::xsimd_kernels
