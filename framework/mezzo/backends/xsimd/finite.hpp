#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

struct FiniteFunctions {
  /// 0 if all elements are finite, else NaN.
  using Check = double (*)(const void* x, std::int64_t count);

  /// The sum of squares, in double; finite if and only if all elements are.
  using Squares = double (*)(const void* x, std::int64_t count);

  PerStorage<Check> check;
  PerStorage<Squares> squares;
};

namespace sse2 {
extern const FiniteFunctions finite;
}
namespace avx2 {
extern const FiniteFunctions finite;
}
namespace avx512 {
extern const FiniteFunctions finite;
}
namespace avx512_bf16 {
extern const FiniteFunctions finite;
}

}  // namespace mezzo::xsimd_kernels
