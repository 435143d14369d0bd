#pragma once
#include <cstdint>

namespace mezzo::xsimd_kernels {

/// A row of codes and of their numbers, as the op dequantize describes them.
struct DequantizedRow {
  const void* codes = nullptr;
  std::int64_t columns = 0, bits = 8;
  bool nf4 = false;
  std::int64_t run = 0;                ///< columns with one scale, 0 for all; even for 4 bits unless it is 1
  const float* scales = nullptr;       ///< one for each run
  const std::int8_t* zeros = nullptr;  ///< likewise; null: none, and numbers are quotients unless nf4
  void* out = nullptr;
};

}  // namespace mezzo::xsimd_kernels
