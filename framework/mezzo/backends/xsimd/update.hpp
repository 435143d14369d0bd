#pragma once
#include <array>
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// What an optimizer's pass reads and writes. Outputs may be the inputs' own bytes.
struct UpdateArrays {
  const void* variable = nullptr;
  const void* gradient = nullptr;
  const void* slots[2] = {};
  const void* beside = nullptr;  ///< remainders (int16) or compensations
  void* new_variable = nullptr;
  void* new_slots[2] = {};
  void* new_beside = nullptr;
  void* copy = nullptr;
  std::uint64_t slot_stream = 0, variable_stream = 0;  ///< as UpdateRequest has them
  std::int64_t first = 0;                              ///< which element of the whole variable the first one here is
};

/// With g the gradient times `multiplier`, clipped to +-clip: w -= decay * w; without a buffer w -= rate * g, else
/// b = momentum * b - rate * g and w += from_buffer * b - from_gradient * g.
struct SgdCoefficients {
  float multiplier, clip, decay, rate, momentum, from_buffer, from_gradient;
};

/// m += (g - m) * rest_1; v += (g * g - v) * rest_2; w -= decay * w + rate * m / (sqrt(v) + epsilon).
struct AdamCoefficients {
  float multiplier, clip, decay, rate, rest_1, rest_2, epsilon;
};

/// How a variable is kept, with its dtype.
enum KeptAs {
  plain_float32,
  float32_with_bfloat16,  ///< and a copy
  float32_with_float16,
  plain_bfloat16,
  plain_float16,
  split_float32,
  kahan_bfloat16,
  kahan_float16,
  stochastic_bfloat16,
  ways_of_keeping
};

struct UpdateFunctions {
  template <class Coefficients>
  using Function = void (*)(const UpdateArrays&, const Coefficients&, std::int64_t begin, std::int64_t end);

  /// By KeptAs, by whether slots are in bfloat16, rounded stochastically, and by storage of the gradient. Null where
  /// there is none: with the last four ways and with such slots only for gradients in the variable's own dtype.
  template <class Coefficients>
  using Table = std::array<std::array<PerStorage<Function<Coefficients>>, 2>, ways_of_keeping>;

  Table<SgdCoefficients> sgd;
  Table<SgdCoefficients> momentum;
  Table<AdamCoefficients> adam;
};

namespace sse2 {
extern const UpdateFunctions update;
}
namespace avx2 {
extern const UpdateFunctions update;
}
namespace avx512 {
extern const UpdateFunctions update;
}
namespace avx512_bf16 {
extern const UpdateFunctions update;
}

}  // namespace mezzo::xsimd_kernels
