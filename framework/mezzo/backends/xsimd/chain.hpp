#pragma once
#include <cstdint>
#include <span>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Functions on blocks of float32 numbers, for the kernels of chains. Bools are the numbers 0 and 1.
struct ChainFunctions {
  /// out = function(a, b, c), for n elements; unused operands are null. out may be an operand.
  using Step = void (*)(const float* a, const float* b, const float* c, float* out, std::int64_t n);

  struct Row {
    const char* op;
    Step step;
    bool approximate = false;  ///< the value of the attribute `approximate`, for ops that have it
    double max_value = 0;      ///< likewise; 0 without it
    Step bfloat16 = nullptr;   ///< for results in bfloat16, as outside of chains; null: `step`
  };

  std::span<const Row> rows;
  Step copy;
  Step truth;                                                                ///< 1 where a is not 0, else 0
  void (*store_bools)(const float* x, std::uint8_t* y, std::int64_t count);  ///< y = x as bool
  /// Rounds n numbers to a 16-bit dtype; null for float32.
  PerStorage<void (*)(float* x, std::int64_t n)> round;
  /// y = x, past the caches; y starts a cache line. The caller calls finish_stores().
  PerStorage<void (*)(const float* x, void* y, std::int64_t count)> store_past_caches;
};

MEZZO_ISA_TABLE(ChainFunctions, chain)

Entries chain_entries();

}  // namespace mezzo::xsimd_kernels
