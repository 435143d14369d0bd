#include <mezzo/backends/xsimd/isa_kernels.hpp>

#include <mezzo/core/compiled_isas.hpp>
#include <mezzo/core/fail.hpp>

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
  switch (isa) {  // MEZZO_WITH_<name>: framework/cmake/MezzoKernels.cmake
#if MEZZO_WITH_sse2
    case Isa::sse2:
      return sse2::isa_kernels;
#endif
#if MEZZO_WITH_avx2
    case Isa::avx2:
      return avx2::isa_kernels;
#endif
#if MEZZO_WITH_avx512
    case Isa::avx512:
      return avx512::isa_kernels;
#endif
#if MEZZO_WITH_avx512_bf16
    case Isa::avx512_bf16:
      return avx512_bf16::isa_kernels;
#endif
    default:
      fail<Error>("", "this build of mezzo has no kernels for {}", isa_name(isa));
  }
}

const IsaKernels& any_kernels() { return kernels(detail::compiled_isas().front()); }

}  // namespace mezzo::xsimd_kernels
