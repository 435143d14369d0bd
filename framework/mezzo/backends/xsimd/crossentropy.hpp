#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

struct CrossentropyFunctions {
  /// Rows handed over in one call, at most.
  static constexpr std::int64_t most_rows = 256;

  using Loss = void (*)(const std::int32_t* labels, const void* scores, float* loss, std::int64_t rows,
                        std::int64_t classes);

  /// dx may be the scores.
  using Gradient = void (*)(const std::int32_t* labels, const void* scores, const float* g, void* dx, std::int64_t rows,
                            std::int64_t classes);

  PerStorage<Loss> loss_of_logits, loss_of_probabilities;
  PerStorage<Gradient> gradient_of_logits, gradient_of_probabilities;
};

namespace sse2 {
extern const CrossentropyFunctions crossentropy;
}
namespace avx2 {
extern const CrossentropyFunctions crossentropy;
}
namespace avx512 {
extern const CrossentropyFunctions crossentropy;
}
namespace avx512_bf16 {
extern const CrossentropyFunctions crossentropy;
}

}  // namespace mezzo::xsimd_kernels
