#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// On dense arrays of `rows` rows of `columns`.
struct SoftmaxFunctions {
  /// y may be x.
  using Softmax = void (*)(const void* x, void* y, std::int64_t rows, std::int64_t columns);

  /// dx = y (g - the sum of g y); it may be y or g.
  using Gradient = void (*)(const void* y, const void* g, void* dx, std::int64_t rows, std::int64_t columns);

  PerStorage<Softmax> softmax;
  PerStorage<Gradient> gradient;
};

namespace sse2 {
extern const SoftmaxFunctions softmax;
}
namespace avx2 {
extern const SoftmaxFunctions softmax;
}
namespace avx512 {
extern const SoftmaxFunctions softmax;
}
namespace avx512_bf16 {
extern const SoftmaxFunctions softmax;
}

}  // namespace mezzo::xsimd_kernels
