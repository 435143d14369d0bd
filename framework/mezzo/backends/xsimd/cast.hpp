#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Casts to each of the storage types.
struct CastFunctions {
  using Cast = void (*)(const void* x, void* y, std::int64_t count);

  PerStorage<PerStorage<Cast>> from_storage;
  PerStorage<Cast> from_int32;
  PerStorage<Cast> from_bytes;  ///< uint8, and bool
};

namespace sse2 {
extern const CastFunctions cast;
}
namespace avx2 {
extern const CastFunctions cast;
}
namespace avx512 {
extern const CastFunctions cast;
}
namespace avx512_bf16 {
extern const CastFunctions cast;
}

}  // namespace mezzo::xsimd_kernels
