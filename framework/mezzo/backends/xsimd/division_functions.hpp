#pragma once
// Rounding to integers, and divisions with a remainder, of whole registers, for .isa.cpp files.
#include <mezzo/backends/xsimd/special_functions.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

// Numbers of 2^23 and more are integers; NaN and infinities stay. The sign is that of x, also of zeros.
template <class Round>
struct Rounding {
  Floats operator()(const Floats& x) const {
    const Floats sign = x & Floats(-0.0F), magnitude = xsimd::abs(x), limit(8388608.0F);
    const Floats nearest = ((magnitude + limit) - limit) | sign;  // ties to even
    return xsimd::select(magnitude < limit, Round{}(x, nearest) | sign, x);
  }
};

struct ToNearest {
  Floats operator()(const Floats&, const Floats& nearest) const { return nearest; }
};

struct Down {
  Floats operator()(const Floats& x, const Floats& nearest) const {
    return xsimd::select(nearest > x, nearest - Floats(1.0F), nearest);
  }
};

struct Up {
  Floats operator()(const Floats& x, const Floats& nearest) const {
    return xsimd::select(nearest < x, nearest + Floats(1.0F), nearest);
  }
};

struct TowardsZero {
  Floats operator()(const Floats& x, const Floats& nearest) const {
    const Floats magnitude = xsimd::abs(x), whole = xsimd::abs(nearest);
    return xsimd::select(whole > magnitude, whole - Floats(1.0F), whole);
  }
};

/// The remainder of a / b rounded towards 0, exact: fused products subtract multiples of b without rounding, and the
/// quotient is at most 1 too large.
struct Fmod {
  static Mask takes(const Floats& a, const Floats& b) {
#if defined(__FMA__)
    return between(b, 1e-25F, 1e30F) & (xsimd::abs(a) < xsimd::abs(b) * Floats(4194304.0F));
#else
    return (a < b) & (a > b);  // never: products are rounded
#endif
  }

  Floats operator()(const Floats& a, const Floats& b) const {
    const Floats x = xsimd::abs(a), y = xsimd::abs(b);
    const Floats quotient = Rounding<TowardsZero>{}(x / y);
    const Floats rest = xsimd::select(quotient == Floats(0.0F), x, negative_multiply_add(quotient, y, x));
    return with_sign(xsimd::select(rest < Floats(0.0F), rest + y, rest), a);
  }
};

/// The remainder with the sign of b: fmod, plus b where the signs differ. Masks are compared by != since xsimd 8
/// computes an or for their ^ under AVX-512.
struct Mod {
  static Mask takes(const Floats& a, const Floats& b) { return Fmod::takes(a, b); }

  Floats operator()(const Floats& a, const Floats& b) const {
    const Floats zero(0.0F), rest = Fmod{}(a, b);
    const Floats moved = xsimd::select((rest < zero) != (b < zero), rest + b, rest);
    return xsimd::select(rest == zero, with_sign(zero, b), moved);
  }
};

/// NumPy's formula: the quotient without the remainder, which is nearly an integer, rounded to it.
struct FloorDivide {
  static Mask takes(const Floats& a, const Floats& b) { return Fmod::takes(a, b); }

  Floats operator()(const Floats& a, const Floats& b) const {
    const Floats zero(0.0F), one(1.0F), rest = Fmod{}(a, b);
    const Mask down = (rest != zero) & ((rest < zero) != (b < zero));
    const Floats quotient = (a - rest) / b - xsimd::select(down, one, zero);
    const Floats floor = Rounding<Down>{}(quotient);
    const Floats nearest = xsimd::select(quotient - floor > Floats(0.5F), floor + one, floor);
    return xsimd::select(quotient == zero, with_sign(zero, a / b), nearest);
  }
};

// The C library's counterparts of the last functions, for the lanes that these do not support.

float mod(float a, float b) {
  const float rest = fmodf(a, b);
  if (rest == 0) return __builtin_copysignf(0.0F, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

float floor_divide(float a, float b) {
  if (b == 0) return a / b;
  const float rest = fmodf(a, b);
  const float quotient = (a - rest) / b - (rest != 0 && (rest < 0) != (b < 0) ? 1.0F : 0.0F);
  if (quotient == 0) return __builtin_copysignf(0.0F, a / b);
  const float floor = floorf(quotient);
  return quotient - floor > 0.5F ? floor + 1 : floor;
}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
