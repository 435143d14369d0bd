#pragma once
// Functions of whole registers, for .isa.cpp files.
#include <mezzo/backends/xsimd/vector.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// 2^n for n in [-126, 127].
[[gnu::always_inline]] inline Floats power_of_2(const Ints& n) {
  return xsimd::bitwise_cast<Floats>((n + Ints(127)) << 23);
}

/// exp(x) to 1 ulp, the whole range of float32 with its denormals (xsimd's own ends at exp(+-88.37)). The reduction
/// and polynomial of Cephes' expf.
[[gnu::always_inline]] inline Floats exponential(const Floats& x) {
  const Floats bounded = xsimd::min(Floats(89.0F), xsimd::max(Floats(-104.0F), x));
  const Ints n = xsimd::nearbyint_as_int(bounded * Floats(1.44269504088896341F));
  const Floats k = xsimd::to_float(n);
  const Floats r =
      negative_multiply_add(k, Floats(-2.12194440e-4F), negative_multiply_add(k, Floats(0.693359375F), bounded));
  Floats p = multiply_add(Floats(1.9875691500e-4F), r, Floats(1.3981999507e-3F));
  p = multiply_add(p, r, Floats(8.3334519073e-3F));
  p = multiply_add(p, r, Floats(4.1665795894e-2F));
  p = multiply_add(p, r, Floats(1.6666665459e-1F));
  p = multiply_add(p, r, Floats(5.0000001201e-1F));
  p = multiply_add(p * r, r, r) + Floats(1.0F);
  const Ints half = n >> 1;  // 2^n itself may be out of range
  return p * power_of_2(half) * power_of_2(n - half);
}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
