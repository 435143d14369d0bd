#pragma once
// Elementary functions of whole registers, for .isa.cpp files. F is Floats or Several<Floats, n>.
#include <mezzo/backends/xsimd/several.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// 2^n for n in [-126, 127].
[[gnu::always_inline]] inline Floats power_of_2(const Ints& n) {
  return xsimd::bitwise_cast<Floats>((n + Ints(127)) << 23);
}

/// Functions have the type of their result in memory as a parameter: for bfloat16, which keeps 8 bits, the relative
/// error may be 1e-4, and the functions take about half of the operations.
template <class T>
constexpr bool is_coarse = std::is_same_v<T, bfloat16>;

/// Whole numbers k for which 2^k is computed: from -150 to 128; from -173 to 63, with results that may be denormals;
/// from -126 to 127.
enum class Powers { all, low, normal };

/// x = k log(2) + r with a whole k and |r| <= log(2) / 2.
template <class T, class F, Powers powers>
struct Exponent {
  F k, r;
#if !defined(__AVX512F__)
  decltype(as_ints(F())) bits;  ///< the lower 9 are k + bias

  static constexpr int bias = powers == Powers::all ? 254 : powers == Powers::low ? 127 + 64 : 127;
#endif

  [[gnu::always_inline]] explicit Exponent(const F& x) {
    constexpr float log2_e = 1.44269504088896341F;
#if defined(__AVX512F__)
    k = each([](const Floats& quotient) { return xsimd::nearbyint(quotient); }, x * F(log2_e));
#else
    const F whole(12582912.0F + bias);  // sums with 1.5 2^23 are rounded to whole numbers
    const F sum = multiply_add(x, F(log2_e), whole);
    bits = as_ints(sum);
    k = sum - whole;
#endif
    if constexpr (is_coarse<T>) {
      r = negative_multiply_add(k, F(0.693147180559945309F), x);
    } else {
      r = negative_multiply_add(k, F(-2.12194440e-4F), negative_multiply_add(k, F(0.693359375F), x));
    }
  }

  /// exp(r) - 1, with the polynomial of expf in Cephes. For bfloat16 one of degree 4, whose absolute error is 2.8e-6.
  [[gnu::always_inline]] F rest() const {
    if constexpr (is_coarse<T>) {
      F p = multiply_add(F(0.0415136851F), r, F(0.167875931F));
      p = multiply_add(p, r, F(0.50003022F));
      return multiply_add(p, r, F(0.9999668F)) * r;
    }
    F p = multiply_add(F(1.9875691500e-4F), r, F(1.3981999507e-3F));
    p = multiply_add(p, r, F(8.3334519073e-3F));
    p = multiply_add(p, r, F(4.1665795894e-2F));
    p = multiply_add(p, r, F(1.6666665459e-1F));
    p = multiply_add(p, r, F(5.0000001201e-1F));
    return multiply_add(p * r, r, r);
  }

  /// exp(r).
  [[gnu::always_inline]] F power() const { return rest() + F(1.0F); }

  /// 2^k x.
  [[gnu::always_inline]] F scale(const F& x) const {
#if defined(__AVX512F__)
    return each([](const Floats& y, const Floats& n) { return Floats(_mm512_scalef_ps(y.data, n.data)); }, x, k);
#else
    if constexpr (powers == Powers::all) {
      const auto half = bits >> 1;  // 2^k itself may be out of range
      return x * as_floats(half << 23) * as_floats((bits - half) << 23);
    } else if constexpr (powers == Powers::low) {
      return x * as_floats(bits << 23) * F(0x1p-64F);
    } else {
      return x * as_floats(bits << 23);
    }
#endif
  }
};

/// exp(x) to 1 unit in the last place, for x of at most 43 or NaN.
template <class T = float, class F>
[[gnu::always_inline]] inline F low_exponential(const F& x) {
  const Exponent<T, F, Powers::low> e(max(F(-104.0F), x));
  return e.scale(e.power());
}

/// exp(x) to 1 unit in the last place, for the whole range of float32 including denormals (xsimd's own exp is limited
/// to |x| <= 88.37).
template <class T = float, class F>
[[gnu::always_inline]] inline F exponential(const F& x) {
  const Exponent<T, F, Powers::all> e(min(F(89.0F), max(F(-104.0F), x)));
  return e.scale(e.power());
}

/// c[0] x^(n-1) + ... + c[n-1].
template <int n, class F>
[[gnu::always_inline]] inline F polynomial(const F& x, const float (&c)[n]) {
  F p(c[0]);
#pragma GCC unroll 16
  for (int i = 1; i < n; ++i) p = multiply_add(p, x, F(c[i]));
  return p;
}

/// 1 / x to 1 unit in the last place, for normal numbers x whose inverses are normal numbers. Zen 5 divides in 7
/// cycles.
template <class T = float, class F>
[[gnu::always_inline]] inline F inverse(const F& x) {
#if defined(__AVX512F__)
  const F near = each([](const Floats& y) { return Floats(_mm512_rcp14_ps(y.data)); }, x);
  if constexpr (is_coarse<T>) return near;
  return multiply_add(near, negative_multiply_add(x, near, F(1.0F)), near);
#else
  return F(1.0F) / x;
#endif
}

/// a / b, as precise as inverse().
template <class T = float, class F>
[[gnu::always_inline]] inline F quotient(const F& a, const F& b) {
#if defined(__AVX512F__)
  const F near = each([](const Floats&y) { return Floats(_mm512_rcp14_ps(y.data)); }, b), q = a * near;
  if constexpr (is_coarse<T>) return q;
  return multiply_add(negative_multiply_add(q, b, a), near, q);
#else
  return a / b;
#endif
}

/// x with the sign of `of`; x is positive.
template <class F>
[[gnu::always_inline]] inline F with_sign(const F& x, const F& of) {
  return x | (of & F(-0.0F));
}

/// |x|, at most `most`; NaN stays NaN.
template <class F>
[[gnu::always_inline]] inline F magnitude(const F& x, float most) {
  return min(F(most), abs(x));
}

/// tanh(x) to 2.5 units in the last place: d / (d + 2) with d = exp(2 |x|) - 1 and the sign of x.
template <class T = float, class F>
[[gnu::always_inline]] inline F hyperbolic_tangent(const F& x) {
  const F a = magnitude(x, 20.0F);
  const Exponent<T, F, Powers::normal> e(a + a);
  const F power = e.scale(F(1.0F)), d = multiply_add(power, e.rest(), power - F(1.0F));
  return with_sign(quotient<T>(d, d + F(2.0F)), x);
}

/// 1 / (1 + exp(-x)) to 2 units in the last place, also where it is small.
template <class T = float, class F>
[[gnu::always_inline]] inline F logistic(const F& x) {
  const F one(1.0F), small = low_exponential<T>(x | F(-0.0F));  // exp(-|x|)
  return select(x < F(0.0F), small, one) * inverse<T>(one + small);
}

/// @name Functions of a distribution that is symmetric about 0
/// They take a value at -|x|, where it is a product with exp() of a negative number. Such products are scaled last:
/// exp() itself may be too small for a normal number.
/// @{

/// x times the distribution function: max(x, 0) - |x| times the function at -|x|, given the latter product.
template <class F>
[[gnu::always_inline]] inline F distribution_product(const F& x, const F& small) {
  // max returns its second operand if one is NaN.
  return max(F(0.0F), x) - small;
}

/// f(x) for an f with f(x) = 1 - f(-x), given f(-|x|).
template <class F>
[[gnu::always_inline]] inline F mirrored(const F& x, const F& small) {
  return select(x < F(0.0F), small, F(1.0F) - small);
}
/// @}

/// 1 / (1 + exp(u)) of a number u >= 0: 2^k power * share. u is at most 120.
template <class T, class F>
struct LogisticTail {
  Exponent<T, F, Powers::low> exponent;
  F power;  ///< exp(-u) = 2^k power
  F share;  ///< 1 / (1 + exp(-u))

  [[gnu::always_inline]] explicit LogisticTail(const F& u)
      : exponent(-u), power(exponent.power()), share(inverse<T>(F(1.0F) + exponent.scale(power))) {}

  /// The function times `factor`.
  [[gnu::always_inline]] F times(const F& factor) const { return exponent.scale(factor * power * share); }

  /// The derivative of x / (1 + exp(-u(x))) at -a, for an odd function u with the derivative `slope` at a.
  [[gnu::always_inline]] F derivative(const F& a, const F& slope) const {
    return times(negative_multiply_add(a * share, slope, F(1.0F)));
  }
};

/// The normal distribution function at -a is exp(-a^2 / 2) P(t), t = 1 / (1 + 0.3 a). P is the minimax polynomial of
/// degree 10 for the relative error on [-20, 0], which is 4e-9. The error of the result is therefore that of float32
/// arithmetic: about 4 units in the last place, and a few more far below 0 without fused products. For bfloat16 the
/// degree is 6 and the error 2e-6 on [-14, 0]. a is at most 15, where the function is 0.
template <class T, class F>
struct NormalTail {
  F ratio;  ///< P

  [[gnu::always_inline]] explicit NormalTail(const F& a) : exponent_(F(-0.5F) * (a * a)) {
    constexpr float tail[] = {-2.08727251e-2F, 1.13876932e-1F, -2.31858337e-1F, 1.97079161e-1F,
                              -8.43035893e-2F, 9.91305706e-2F, 7.71798967e-2F,  1.10558918e-1F,
                              1.19517545e-1F,  1.19691835e-1F, -2.08967192e-7F};
    constexpr float coarse_tail[] = {-0.0845933F,  0.240572587F, -0.0486441962F, 0.164764359F,
                                     0.106704563F, 0.121274695F, -7.97892644e-5F};
    const F t = inverse<T>(multiply_add(a, F(0.3F), F(1.0F)));
    if constexpr (is_coarse<T>) {
      ratio = polynomial(t, coarse_tail);
    } else {
      const F lost = multiply_subtract(a, a, a * a);  // rounding error of the square; 0 without fused products
      exponent_.r = negative_multiply_add(F(0.5F), lost, exponent_.r);
      ratio = polynomial(t, tail);
    }
  }

  /// exp(-a^2 / 2) times `factor`.
  [[gnu::always_inline]] F times_bell(const F& factor) const { return exponent_.scale(factor * exponent_.power()); }

  static constexpr float density_at_0 = 0.398942280401432678F;

 private:
  Exponent<T, F, Powers::low> exponent_;
};

/// @name Approximate GELU (Hendrycks and Gimpel, 2016)
/// The normal distribution function is about 1 / (1 + exp(-x gelu_factor(x))).
/// @{
template <class F>
[[gnu::always_inline]] inline F gelu_factor(const F& x) {
  return multiply_add(x * x, F(0.0713548162726F), F(1.59576912160573F));
}
/// The derivative of x gelu_factor(x).
template <class F>
[[gnu::always_inline]] inline F gelu_slope(const F& x) {
  return multiply_add(x * x, F(0.2140644488178F), F(1.59576912160573F));
}
/// @}

/// |x| from which GELU, its approximation and SiLU are 0 at -|x|.
constexpr float most_normal = 15.0F, most_approximate = 11.0F, most_silu = 120.0F;

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
