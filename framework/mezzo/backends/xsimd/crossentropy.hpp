#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

struct CrossentropyFunctions {
  /// Largest number of rows of one call.
  static constexpr std::int64_t most_rows = 256;

  using Loss = void (*)(const std::int32_t* labels, const void* scores, float* loss, std::int64_t rows,
                        std::int64_t classes);

  /// dx may be `scores`.
  using Gradient = void (*)(const std::int32_t* labels, const void* scores, const float* g, void* dx, std::int64_t rows,
                            std::int64_t classes);

  PerStorage<Loss> loss_of_logits, loss_of_probabilities;
  PerStorage<Gradient> gradient_of_logits, gradient_of_probabilities;
};

MEZZO_ISA_TABLE(CrossentropyFunctions, crossentropy)

Entries crossentropy_entries();

}  // namespace mezzo::xsimd_kernels
