#include <mezzo/core/compiled_isas.hpp>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {

const std::vector<Isa>& compiled_isas() {
  // MEZZO_WITH_<name>: framework/cmake/MezzoKernels.cmake.
  static const std::vector<Isa> isas {
#if MEZZO_WITH_sse2
    Isa::sse2,
#endif
#if MEZZO_WITH_avx2
        Isa::avx2,
#endif
#if MEZZO_WITH_avx512
        Isa::avx512,
#endif
#if MEZZO_WITH_avx512_bf16
        Isa::avx512_bf16,
#endif
  };
  return isas;
}

Isa usable_isa(Isa best, const std::vector<Isa>& compiled) {
  for (auto isa = compiled.rbegin(); isa != compiled.rend(); ++isa) {
    if (*isa <= best) return *isa;
  }
  fail<Error>("",
              "this build of mezzo has kernels for {} and above; CPU and environment allow {}. Configure it with "
              "-DMEZZO_KERNELS=all",
              isa_name(compiled.front()), isa_name(best));
}

}  // namespace mezzo::detail
