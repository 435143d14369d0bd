#include <mezzo/backends/xsimd/float16_split.hpp>

namespace mezzo::xsimd_kernels {

const Float16SplitFunctions& float16_split_functions(Isa isa) {
  return pick(isa, sse2::float16_split, avx2::float16_split, avx512::float16_split, avx512_bf16::float16_split);
}

}  // namespace mezzo::xsimd_kernels
