#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>
#include <mezzo/backends/xsimd/pool_shape.hpp>

namespace mezzo::xsimd_kernels {

struct AvgPoolFunctions {
  /// Rows [begin, end) of the outputs of all images. `count_padding`: every window is divided by its whole size.
  using Pool = void (*)(const void* x, void* y, const PoolShape& shape, bool count_padding, std::int64_t begin,
                        std::int64_t end);

  /// Rows [begin, end) of the gradients of all images: each element gathers from the windows that it lies in.
  using Gradient = void (*)(const void* g, void* dx, const PoolShape& shape, bool count_padding, std::int64_t begin,
                            std::int64_t end);

  PerStorage<Pool> pool;
  PerStorage<Gradient> gradient;
};

namespace sse2 {
extern const AvgPoolFunctions avg_pool;
}
namespace avx2 {
extern const AvgPoolFunctions avg_pool;
}
namespace avx512 {
extern const AvgPoolFunctions avg_pool;
}
namespace avx512_bf16 {
extern const AvgPoolFunctions avg_pool;
}

}  // namespace mezzo::xsimd_kernels
