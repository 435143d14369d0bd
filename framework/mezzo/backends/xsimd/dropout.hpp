#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Elements are kept whose 24 random bits are at least `least`, and then divided.
struct DropoutRule {
  std::uint64_t stream;
  std::int32_t least;
  float divisor;
};

struct DropoutFunctions {
  /// Elements [begin, end); begin is a multiple of 64.
  using Dropout = void (*)(const void* x, void* y, const DropoutRule& rule, std::int64_t begin, std::int64_t end);

  PerStorage<Dropout> dropout;
};

namespace sse2 {
extern const DropoutFunctions dropout;
}
namespace avx2 {
extern const DropoutFunctions dropout;
}
namespace avx512 {
extern const DropoutFunctions dropout;
}
namespace avx512_bf16 {
extern const DropoutFunctions dropout;
}

}  // namespace mezzo::xsimd_kernels
