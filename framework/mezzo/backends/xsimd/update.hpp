#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/coded_slots.hpp>
#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Inputs and outputs of an optimizer's pass. An output may have the memory of its input.
struct UpdateArrays {
  const void* variable = nullptr;
  const void* gradient = nullptr;
  const void* slots[2] = {};
  const void* beside = nullptr;  ///< remainders (int16) or compensations
  void* new_variable = nullptr;
  void* new_slots[2] = {};
  void* new_beside = nullptr;
  void* copy = nullptr;
  std::uint64_t slot_stream = 0, variable_stream = 0;  ///< see UpdateRequest
  std::int64_t first = 0;                              ///< index of the first element here in the whole variable
  const void* third_slot = nullptr;                    ///< of rules of optimizer_update that have three slots
  void* new_third_slot = nullptr;
};

/// g is the gradient times `multiplier`, clipped to +-clip. w -= decay * w; without a momentum buffer w -= rate * g,
/// else b = momentum * b - rate * g and w += from_buffer * b - from_gradient * g.
struct SgdCoefficients {
  float multiplier, clip, decay, rate, momentum, from_buffer, from_gradient;
};

/// With the same g: m += (g - m) * rest_1; v += (g * g - v) * rest_2; w -= decay * w + rate * m / (sqrt(v) + epsilon).
struct AdamCoefficients {
  float multiplier, clip, decay, rate, rest_1, rest_2, epsilon;
};

/// The passes of one optimizer.
template <class Coefficients>
struct UpdateTable {
  using Function = void (*)(const UpdateArrays&, const Coefficients&, std::int64_t begin, std::int64_t end);

  /// Functions by slot dtype (float32, or bfloat16 rounded stochastically), then by gradient storage. Null where
  /// there is no function: split, kahan and stochastic variables and bfloat16 slots need a gradient in the variable's
  /// dtype, float32 for split.
  struct BySlots {
    PerStorage<Function> float32, bfloat16;
  };

  BySlots plain_float32, float32_with_bfloat16_copy, float32_with_float16_copy;
  BySlots plain_bfloat16, plain_float16;
  BySlots split_float32;
  BySlots kahan_bfloat16, kahan_float16;
  BySlots stochastic_bfloat16;
};

struct UpdateFunctions {
  UpdateTable<SgdCoefficients> sgd;
  UpdateTable<SgdCoefficients> momentum;
  UpdateTable<AdamCoefficients> adam;
  SlotCodes codes;
};

MEZZO_ISA_TABLE(UpdateFunctions, update)

Entries update_entries();

}  // namespace mezzo::xsimd_kernels
