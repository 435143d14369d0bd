#include <mezzo/backends/xsimd/isa_kernels.hpp>

namespace mezzo::xsimd_kernels {

// Defined by isa_table.isa.cpp, once for each instruction set.
namespace sse2 {
extern const IsaKernels isa_kernels;
}
namespace avx2 {
extern const IsaKernels isa_kernels;
}
namespace avx512 {
extern const IsaKernels isa_kernels;
}
namespace avx512_bf16 {
extern const IsaKernels isa_kernels;
}

const IsaKernels& kernels(Isa isa) {
  switch (isa) {
    case Isa::sse2:
      return sse2::isa_kernels;
    case Isa::avx2:
      return avx2::isa_kernels;
    case Isa::avx512:
      return avx512::isa_kernels;
    case Isa::avx512_bf16:
      break;
  }
  return avx512_bf16::isa_kernels;
}

}  // namespace mezzo::xsimd_kernels
