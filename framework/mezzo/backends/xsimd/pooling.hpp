#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>
#include <mezzo/backends/xsimd/pool_shape.hpp>

namespace mezzo::xsimd_kernels {

struct MaxPoolFunctions {
  /// Rows [begin, end) of the outputs of all images.
  using Pool = void (*)(const void* x, void* y, std::uint8_t* places, const PoolShape& shape, std::int64_t begin,
                        std::int64_t end);

  /// Rows [begin, end) of the gradients of all images: each element gathers from the windows that it lies in.
  using Gradient = void (*)(const void* g, const std::uint8_t* places, void* dx, const PoolShape& shape,
                            std::int64_t begin, std::int64_t end);

  PerStorage<Pool> pool;
  PerStorage<Gradient> gradient;
};

namespace sse2 {
extern const MaxPoolFunctions max_pool;
}
namespace avx2 {
extern const MaxPoolFunctions max_pool;
}
namespace avx512 {
extern const MaxPoolFunctions max_pool;
}
namespace avx512_bf16 {
extern const MaxPoolFunctions max_pool;
}

}  // namespace mezzo::xsimd_kernels
