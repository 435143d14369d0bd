#pragma once
#include <memory>
#include <string>
#include <vector>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/xsimd/isa_kernels.hpp>
#include <mezzo/backends/xsimd/products.hpp>
#include <mezzo/compiler/kernel.hpp>
#include <mezzo/core/cpu.hpp>
#include <mezzo/core/isa.hpp>
#include <mezzo/core/parallel.hpp>

namespace mezzo::xsimd_kernels {

/// Makes the kernel of a request for an ISA; returns null and sets the reason if it declines.
using Make = std::unique_ptr<Kernel> (*)(const KernelRequest& request, Isa isa, std::string& reason);

/// A kernel of an op.
struct Entry {
  const char* op;
  Make make;                                        ///< for any ISA
  decltype(detail::Implementation::create) create;  ///< for the ISA of this machine, as Implementation needs it
};

template <Make make>
Entry entry(const char* op) {
  return {op, make, [](const KernelRequest& request, std::string& reason) { return make(request, isa(), reason); }};
}

/// True if a PerStorage has an entry for this dtype.
inline bool is_stored(DType dtype) {
  return dtype == DType::float32 || dtype == DType::bfloat16 || dtype == DType::float16;
}

inline std::unique_ptr<Kernel> decline_dtype(std::string& reason, DType dtype) {
  return decline(reason, "takes float32, bfloat16 and float16; got {}", dtype);
}

/// True if inputs 0 and 1 and output 0 are stored in such dtypes. Sets the reason otherwise.
inline bool takes_stored(const KernelRequest& request, std::string& reason) {
  for (const Spec* spec : {&request.inputs[0], &request.inputs[1], &request.outputs[0]}) {
    if (is_stored(spec->dtype)) continue;
    decline_dtype(reason, spec->dtype);
    return false;
  }
  return true;
}

/// True if products of bfloat16 are faster in pairs than in float32.
inline bool multiplies_pairs(const ProductFunctions& products) {
  return products.pair_product != nullptr && !has_slow_bfloat16();
}

/// Bytes per element.
inline std::int64_t size_of(DType dtype) { return static_cast<std::int64_t>(dtype_size(dtype)); }

/// Calls body(begin, end) for ranges of [0, count), one per thread. The ranges start at multiples of 64 elements, a
/// cache line or more of any dtype, so that no two threads write to the same line. The body must not throw.
template <class Body>
void parallel_elements(std::int64_t count, const Body& body) {
  constexpr std::int64_t line = 64;
  parallel_for((count + line - 1) / line, grain / line, [&](std::int64_t begin, std::int64_t end) {
    body(begin * line, end * line < count ? end * line : count);
  });
}

}  // namespace mezzo::xsimd_kernels
