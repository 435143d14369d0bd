#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// An element is kept if its 24 random bits are at least `least`. Kept elements are divided by `divisor`.
struct DropoutRule {
  std::uint64_t stream;  ///< key of philox()
  std::int32_t least;
  float divisor;
};

struct DropoutFunctions {
  /// Elements [begin, end) of x and y; begin is a multiple of 64.
  using Dropout = void (*)(const void* x, void* y, const DropoutRule& rule, std::int64_t begin, std::int64_t end);

  PerStorage<Dropout> dropout;
};

MEZZO_ISA_TABLE(DropoutFunctions, dropout)

Entries dropout_entries();

}  // namespace mezzo::xsimd_kernels
