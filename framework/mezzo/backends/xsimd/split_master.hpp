#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Float32 from and to the halves of SplitFloat; `low` holds int16.
struct SplitMasterFunctions {
  void (*join)(const void* high, const void* low, void* whole, std::int64_t begin, std::int64_t end);
  void (*split)(const void* whole, void* high, void* low, std::int64_t begin, std::int64_t end);
};

namespace sse2 {
extern const SplitMasterFunctions split_master;
}
namespace avx2 {
extern const SplitMasterFunctions split_master;
}
namespace avx512 {
extern const SplitMasterFunctions split_master;
}
namespace avx512_bf16 {
extern const SplitMasterFunctions split_master;
}

}  // namespace mezzo::xsimd_kernels
