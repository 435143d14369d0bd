#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Conversions of float32 from and to the halves of SplitFloat, on elements [begin, end). `high` holds bfloat16, `low`
/// int16.
struct SplitMasterFunctions {
  void (*join)(const void* high, const void* low, void* whole, std::int64_t begin, std::int64_t end);
  void (*split)(const void* whole, void* high, void* low, std::int64_t begin, std::int64_t end);
};

MEZZO_ISA_TABLE(SplitMasterFunctions, split_master)

Entries split_master_entries();

}  // namespace mezzo::xsimd_kernels
