#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Joins the halves of SplitFloat to float32, and splits float32 into them, for elements [begin, end). `high` holds
/// bfloat16, `low` int16.
struct SplitMasterFunctions {
  void (*join)(const void* high, const void* low, void* whole, std::int64_t begin, std::int64_t end);
  void (*split)(const void* whole, void* high, void* low, std::int64_t begin, std::int64_t end);
};

MEZZO_ISA_TABLE(SplitMasterFunctions, split_master)

Entries split_master_entries();

}  // namespace mezzo::xsimd_kernels
