#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Casts to each storage type.
struct CastFunctions {
  using Cast = void (*)(const void* x, void* y, std::int64_t count);

  PerStorage<PerStorage<Cast>> from_storage;
  PerStorage<Cast> from_int32;
  PerStorage<Cast> from_bytes;  ///< from uint8 and bool
};

MEZZO_ISA_TABLE(CastFunctions, cast)

Entries cast_entries();

}  // namespace mezzo::xsimd_kernels
