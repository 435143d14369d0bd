#pragma once
// Elementary functions of whole registers that are used only by chains, for .isa.cpp files. The errors are units in the
// last place, measured with SSE2 and AVX2 against float64: tests/backends/test_xsimd_functions.cpp prints them with
// --log_level=message. Its bounds are one or two units higher, since other instruction sets round at other places.
#include <math.h>

#include <mezzo/backends/xsimd/elementwise_functions.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// function(x) in the lanes outside of the mask, element by element.
template <float (*function)(float)>
[[gnu::noinline]] void repair(const float* flags, const float* x, float* y) {
  for (int i = 0; i < lanes; ++i) {
    if (flags[i] != 0) y[i] = function(x[i]);
  }
}

template <float (*function)(float, float)>
[[gnu::noinline]] void repair(const float* flags, const float* a, const float* b, float* y) {
  for (int i = 0; i < lanes; ++i) {
    if (flags[i] != 0) y[i] = function(a[i], b[i]);
  }
}

/// x with zeros in place of denormal numbers, if arithmetic treats them as 0. Functions of the C library do not treat
/// them as 0.
[[gnu::always_inline]] inline Floats as_seen(const Floats& x) {
  return xsimd::select(x == Floats(0.0F), x & Floats(-0.0F), x);
}

/// Core where Core::takes(x), which is false for NaN; elsewhere a function of the C library, or code with the same
/// results for infinities, NaN and denormals.
template <class Core, float (*function)(float)>
struct Guarded {
  Floats operator()(const Floats& x) const {
    const Mask inside = Core::takes(x);
    const Floats y = Core{}(x);
    if (__builtin_expect(xsimd::all(inside), 1)) return y;
    float flags[lanes], from[lanes], to[lanes];
    store(static_cast<float*>(flags), xsimd::select(inside, Floats(0.0F), Floats(1.0F)), Whole{});
    store(static_cast<float*>(from), as_seen(x), Whole{});
    store(static_cast<float*>(to), y, Whole{});
    repair<function>(flags, from, to);
    return load(static_cast<const float*>(to), Whole{});
  }
};

/// The same for two operands.
template <class Core, float (*function)(float, float)>
struct GuardedPair {
  Floats operator()(const Floats& a, const Floats& b) const {
    const Mask inside = Core::takes(a, b);
    const Floats y = Core{}(a, b);
    if (__builtin_expect(xsimd::all(inside), 1)) return y;
    float flags[lanes], from_a[lanes], from_b[lanes], to[lanes];
    store(static_cast<float*>(flags), xsimd::select(inside, Floats(0.0F), Floats(1.0F)), Whole{});
    store(static_cast<float*>(from_a), as_seen(a), Whole{});
    store(static_cast<float*>(from_b), as_seen(b), Whole{});
    store(static_cast<float*>(to), y, Whole{});
    repair<function>(flags, from_a, from_b, to);
    return load(static_cast<const float*>(to), Whole{});
  }
};

/// True for normal numbers of these magnitudes.
[[gnu::always_inline]] inline Mask between(const Floats& x, float least, float most) {
  const Floats a = xsimd::abs(x);
  return (a >= Floats(least)) & (a <= Floats(most));
}

/// small_rest() for |x| < log(2) / 2; elsewhere at most two bits are lost.
struct Expm1 {
  Floats operator()(const Floats& x) const {
    const Floats near = small_rest(x);
    const Floats away = exponential(x) - Floats(1.0F);
    const Floats sign = x & Floats(-0.0F);
    return xsimd::select(xsimd::abs(x) < Floats(0.3465F), near, away) | sign;
  }
};

/// x less the nearest multiple of pi / 2, subtracted in three parts, and the number of the quadrant. The multiples are
/// exact up to 8192.
struct Quadrant {
  Floats rest;
  Ints number;

  [[gnu::always_inline]] static Mask takes(const Floats& x) { return xsimd::abs(x) <= Floats(8192.0F); }

  [[gnu::always_inline]] explicit Quadrant(const Floats& x) {
    const Floats safe = xsimd::select(takes(x), x, Floats(0.0F));
    number = xsimd::nearbyint_as_int(safe * Floats(0.636619772367581343F));
    const Floats k = xsimd::to_float(number);
    rest = negative_multiply_add(k, Floats(1.5703125F), safe);
    rest = negative_multiply_add(k, Floats(4.837512969970703125e-4F), rest);
    rest = negative_multiply_add(k, Floats(7.54978995489188216e-8F), rest);
  }
};

/// Sine (quarter 0) and cosine (quarter 1) as sinf in Cephes.
template <int quarter>
struct Wave {
  static Mask takes(const Floats& x) { return Quadrant::takes(x); }

  Floats operator()(const Floats& x) const {
    const Quadrant quadrant(x);
    const Floats r = quadrant.rest, square = r * r;
    constexpr float odd[] = {-1.9515295891e-4F, 8.3321608736e-3F, -1.6666654611e-1F};
    constexpr float even[] = {2.443315711809948e-5F, -1.388731625493765e-3F, 4.166664568298827e-2F};
    const Floats sine = multiply_add(polynomial(square, odd) * square, r, r);
    const Floats cosine = multiply_add(polynomial(square, even) * square, square, Floats(1.0F) - square * Floats(0.5F));
    const Ints turn = quadrant.number + Ints(quarter);
    const Floats sign = xsimd::bitwise_cast<Floats>((turn & Ints(2)) << 30);
    return choose((turn & Ints(1)) == Ints(0), sine, cosine) ^ sign;
  }
};

/// Tangent as tanf in Cephes: a polynomial, and -1 divided by it in odd quadrants. 2.5 units.
struct Tan {
  static Mask takes(const Floats& x) { return Quadrant::takes(x); }

  Floats operator()(const Floats& x) const {
    const Quadrant quadrant(x);
    const Floats r = quadrant.rest, square = r * r;
    constexpr float odd[] = {9.38540185543e-3F, 3.11992232697e-3F, 2.44301354525e-2F,
                             5.34112807005e-2F, 1.33387994085e-1F, 3.33331568548e-1F};
    const Floats tangent = multiply_add(polynomial(square, odd) * square, r, r);
    return choose((quadrant.number & Ints(1)) == Ints(0), tangent, Floats(-1.0F) / tangent);
  }
};

/// Arcsine of |x| <= 1/2 as asinf in Cephes, given the square of x.
[[gnu::always_inline]] inline Floats small_arcsine(const Floats& x, const Floats& square) {
  constexpr float odd[] = {4.2163199048e-2F, 2.4181311049e-2F, 4.5470025998e-2F, 7.4953002686e-2F, 1.6666752422e-1F};
  return multiply_add(polynomial(square, odd) * square, x, x);
}

/// pi / 2 - 2 arcsin(sqrt((1 - |x|) / 2)) for |x| > 1/2. 2.2 units.
struct ArcSin {
  static Mask takes(const Floats& x) { return xsimd::abs(x) <= Floats(1.0F); }

  Floats operator()(const Floats& x) const {
    const Floats a = xsimd::abs(x), half(0.5F);
    const Mask outer = a > half;
    const Floats square = xsimd::select(outer, half * (Floats(1.0F) - a), a * a);
    const Floats small = small_arcsine(xsimd::select(outer, xsimd::sqrt(square), a), square);
    const Floats arc = Floats(1.57079632679489662F) - (small + small);
    return with_sign(xsimd::select(outer, arc, small), x);
  }
};

/// 2 arcsin(sqrt((1 - x) / 2)) for x > 1/2; pi less that of -x for x < -1/2; else pi / 2 - arcsin(x). 2 units.
struct ArcCos {
  static Mask takes(const Floats& x) { return xsimd::abs(x) <= Floats(1.0F); }

  Floats operator()(const Floats& x) const {
    const Floats a = xsimd::abs(x), half(0.5F);
    const Mask outer = a > half;
    const Floats square = xsimd::select(outer, half * (Floats(1.0F) - a), a * a);
    const Floats small = small_arcsine(xsimd::select(outer, xsimd::sqrt(square), x), square);
    const Floats twice = small + small;
    const Floats far_end = xsimd::select(x < Floats(0.0F), Floats(3.14159265358979324F) - twice, twice);
    // pi / 2 in two parts
    const Floats middle = Floats(1.57079637050628662F) - (small + Floats(4.37113883e-8F));
    return xsimd::select(outer, far_end, middle);
  }
};

/// Arctangent of a >= 0, as atanf in Cephes. Infinity and NaN too.
[[gnu::always_inline]] inline Floats positive_arctangent(const Floats& a) {
  const Floats one(1.0F);
  const Mask large = a > Floats(2.414213562373095F), middle = a > Floats(0.4142135623730950F);
  const Floats reduced = xsimd::select(large, Floats(-1.0F) / a, xsimd::select(middle, (a - one) / (a + one), a));
  const Floats start = xsimd::select(large, Floats(1.57079632679489662F),
                                     xsimd::select(middle, Floats(0.785398163397448310F), Floats(0.0F)));
  constexpr float odd[] = {8.05374449538e-2F, -1.38776856032e-1F, 1.99777106478e-1F, -3.33329491539e-1F};
  const Floats square = reduced * reduced;
  return start + multiply_add(polynomial(square, odd) * square, reduced, reduced);
}

/// 2 units.
struct ArcTan {
  Floats operator()(const Floats& x) const { return with_sign(positive_arctangent(xsimd::abs(x)), x); }
};

/// 3 units, of finite numbers whose quotient is a normal number.
struct ArcTan2 {
  static Mask takes(const Floats& a, const Floats& b) { return between(a, 1e-15F, 1e15F) & between(b, 1e-15F, 1e15F); }

  Floats operator()(const Floats& a, const Floats& b) const {
    const Floats angle = positive_arctangent(xsimd::abs(a) / xsimd::abs(b));
    return with_sign(xsimd::select(b < Floats(0.0F), Floats(3.14159265358979324F) - angle, angle), a);
  }
};

/// log(a + sqrt(a^2 + 1)), as log1p, with the sign of x. 3 units.
struct ArcSinh {
  static Mask takes(const Floats& x) { return between(x, 1e-15F, 1e15F); }

  Floats operator()(const Floats& x) const {
    const Floats a = xsimd::abs(x), one(1.0F), square = a * a;
    return with_sign(xsimd::log1p(a + square / (one + xsimd::sqrt(one + square))), x);
  }
};

/// log(x + sqrt(x^2 - 1)), as log1p of t + sqrt(2 t + t^2) with t = x - 1. 3 units.
struct ArcCosh {
  static Mask takes(const Floats& x) { return (x >= Floats(1.0F)) & (x <= Floats(1e15F)); }

  Floats operator()(const Floats& x) const {
    const Floats t = x - Floats(1.0F);
    return xsimd::log1p(t + xsimd::sqrt(multiply_add(t, t, t + t)));
  }
};

/// log1p(2 a / (1 - a)) / 2 with the sign of x. 3 units.
struct ArcTanh {
  static Mask takes(const Floats& x) { return between(x, 1e-15F, 0.99999994F); }

  Floats operator()(const Floats& x) const {
    const Floats a = xsimd::abs(x);
    return with_sign(xsimd::log1p((a + a) / (Floats(1.0F) - a)) * Floats(0.5F), x);
  }
};

/// A first guess by a third of the exponent, then a step of Halley's method and one of Newton's. 1 unit.
struct CubeRoot {
  static Mask takes(const Floats& x) { return between(x, 1e-25F, 1e25F); }

  Floats operator()(const Floats& x) const {
    const Floats a = xsimd::abs(x), third(0.333333333333333333F);
    const Floats exponent = xsimd::to_float(xsimd::bitwise_cast<Ints>(a)) * third;
    Floats y = xsimd::bitwise_cast<Floats>(xsimd::nearbyint_as_int(exponent) + Ints(709921077));
    const Floats cube = y * y * y, twice = a + a;
    y = y * (cube + twice) / (cube + cube + a);
    return with_sign(y - (y - a / (y * y)) * third, x);
  }
};

/// (e^a + e^-a) / 2. 2 units.
struct Cosh {
  static Mask takes(const Floats& x) { return xsimd::abs(x) <= Floats(88.0F); }

  Floats operator()(const Floats& x) const {
    const Floats half(0.5F), e = exponential(xsimd::abs(x));
    return multiply_add(e, half, half / e);
  }
};

/// With t = e^a - 1: (t + t / (t + 1)) / 2, with the sign of x; a polynomial up to 1, as sinhf in Cephes. 2 units.
struct Sinh {
  static Mask takes(const Floats& x) { return xsimd::abs(x) <= Floats(88.0F); }

  Floats operator()(const Floats& x) const {
    const Floats a = xsimd::abs(x), half(0.5F), e = exponential(a), square = a * a;
    constexpr float odd[] = {2.03721912945e-4F, 8.33028376239e-3F, 1.66667160211e-1F};
    const Floats near = multiply_add(polynomial(square, odd) * square, a, a);
    const Floats away = multiply_subtract(e, half, half / e);
    return with_sign(xsimd::select(a <= Floats(1.0F), near, away), x);
  }
};

/// 2.1 units. NaN where x is NaN; the unused branch's NaN is not selected.
struct Erf {
  Floats operator()(const Floats& x) const {
    const Floats limit(9.0F);
    const Floats bounded_x = xsimd::min(limit, xsimd::max(-limit, x));  // max returns its second operand if one is NaN.
    return xsimd::erf(bounded_x);
  }
};

/// e^-a^2 times a polynomial in 1 / (1 + 0.3 sqrt(2) a), twice; 2 less that for x < 0. Beyond 9 results are denormals
/// or 0. 6 units.
struct Erfc {
  static Mask takes(const Floats& x) { return xsimd::abs(x) <= Floats(9.0F); }

  Floats operator()(const Floats& x) const {
    constexpr float tail[] = {-2.08727251e-2F, 1.13876932e-1F, -2.31858337e-1F, 1.97079161e-1F,
                              -8.43035893e-2F, 9.91305706e-2F, 7.71798967e-2F,  1.10558918e-1F,
                              1.19517545e-1F,  1.19691835e-1F, -2.08967192e-7F};
    const Floats one(1.0F), two(2.0F), a = xsimd::abs(x), square = a * a;
    // The rounding error of the square, from products of 12 bits, which are exact.
    const Floats high = a & xsimd::bitwise_cast<Floats>(Ints(-4096)), low = a - high;
    const Floats lost = ((high * high - square) + two * high * low) + low * low;
    const Floats bell = exponential(-square) * (one - lost);
    const Floats upper = two * bell * polynomial(one / multiply_add(a, Floats(0.424264069F), one), tail);
    return xsimd::select(x < Floats(0.0F), two - upper, upper);
  }
};

/// The polynomials of Giles, "Approximating the erfinv function" (2012), in -log(1 - x^2). 4 units.
struct ErfInv {
  static Mask takes(const Floats& x) { return xsimd::abs(x) < Floats(1.0F); }

  Floats operator()(const Floats& x) const {
    const Floats one(1.0F), w = -xsimd::log((one - x) * (one + x));
    constexpr float middle[] = {2.81022636e-08F,  3.43273939e-07F,  -3.5233877e-06F, -4.39150654e-06F, 2.1858087e-04F,
                                -1.25372503e-03F, -4.17768164e-03F, 2.46640727e-01F, 1.50140941F};
    constexpr float tail[] = {-2.00214257e-04F, 1.00950558e-04F, 1.34934322e-03F, -3.67342844e-03F, 5.73950773e-03F,
                              -7.6224613e-03F,  9.43887047e-03F, 1.00167406F,     2.83297682F};
    const Floats near = polynomial(w - Floats(2.5F), middle);
    const Floats away = polynomial(xsimd::sqrt(w) - Floats(3.0F), tail);
    return xsimd::select(w < Floats(5.0F), near, away) * x;
  }
};

/// For numbers that ErfInv does not support: infinities at 1 and -1; NaN outside of [-1, 1].
float inverse_erf(float x) {
  if (x == 1 || x == -1) return x * __builtin_inff();
  return __builtin_nanf("");
}

/// 2^n e^(r log(2)) with |r| <= 1/2. 2 units.
struct Exp2 {
  Floats operator()(const Floats& x) const {
    const Floats least = xsimd::min(Floats(129.0F), xsimd::max(Floats(-151.0F), x));
    const Ints n = xsimd::nearbyint_as_int(least);
    const Floats e = exponential((least - xsimd::to_float(n)) * Floats(0.693147180559945309F));
    const Ints half = n >> 1;  // 2^n itself may be out of range
    return e * power_of_2(half) * power_of_2(n - half);
  }
};

/// 2 units.
struct Log2 {
  static Mask takes(const Floats& x) { return (x >= Floats(1.2e-38F)) & (x <= Floats(3e38F)); }
  Floats operator()(const Floats& x) const { return xsimd::log2(x); }
};

/// 2 units.
struct Log10 {
  static Mask takes(const Floats& x) { return (x >= Floats(1.2e-38F)) & (x <= Floats(3e38F)); }
  Floats operator()(const Floats& x) const { return xsimd::log10(x); }
};

/// sqrt(a^2 + b^2) where neither square overflows and the larger one is a normal number. 1.1 units.
struct Hypot {
  static Mask takes(const Floats& a, const Floats& b) {
    const Floats larger = xsimd::max(xsimd::abs(a), xsimd::abs(b));
    return between(larger, 1e-15F, 1e18F) & (a == a) & (b == b);
  }

  Floats operator()(const Floats& a, const Floats& b) const { return xsimd::sqrt(multiply_add(a, a, b * b)); }
};

/// The larger one plus log1p(exp(the negative distance)). 2 units of the larger one.
struct LogAddExp {
  static Mask takes(const Floats& a, const Floats& b) {
    const Floats most(3e38F);
    return (xsimd::abs(a) <= most) & (xsimd::abs(b) <= most);
  }

  Floats operator()(const Floats& a, const Floats& b) const {
    return xsimd::max(a, b) + log_of_1_plus(exponential(-xsimd::abs(a - b)));
  }
};

// logaddexp of the C library, for the lanes that LogAddExp does not support.
float logaddexp(float a, float b) {
  if (a == b) return a + 0.693147180559945309F;  // infinities too
  if (a != a || b != b) return a + b;
  const float high = a > b ? a : b, low = a > b ? b : a;
  return high + log1pf(expf(low - high));
}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
