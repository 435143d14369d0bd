#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/isa_tables.hpp>

namespace mezzo::xsimd_kernels {

/// What an optimizer's pass reads and writes. Outputs may be the inputs' own bytes.
struct UpdateArrays {
  const void* variable = nullptr;
  const void* gradient = nullptr;
  const float* slots[2] = {};
  void* new_variable = nullptr;
  float* new_slots[2] = {};
  void* copy = nullptr;
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

struct UpdateFunctions {
  using Sgd = void (*)(const UpdateArrays&, const SgdCoefficients&, std::int64_t begin, std::int64_t end);
  using Adam = void (*)(const UpdateArrays&, const AdamCoefficients&, std::int64_t begin, std::int64_t end);

  /// By storage of the variable, of the gradient and of the copy; a copy in float32 stands for none.
  template <class Function>
  using Table = PerStorage<PerStorage<PerStorage<Function>>>;

  Table<Sgd> sgd;
  Table<Sgd> momentum;
  Table<Adam> adam;
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
