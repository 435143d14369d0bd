#pragma once
// Elementary functions of whole registers, for .isa.cpp files.
#include <mezzo/backends/xsimd/vector.hpp>

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

/// x = k log(2) + r with a whole k and |r| <= log(2) / 2.
template <class T>
struct Exponent {
  Floats k, r;
#if !defined(__AVX512F__)
  Ints n;  ///< k
#endif

  [[gnu::always_inline]] explicit Exponent(const Floats& x) {
    const Floats quotient = x * Floats(1.44269504088896341F);
#if defined(__AVX512F__)
    k = xsimd::nearbyint(quotient);
#else
    n = xsimd::nearbyint_as_int(quotient);
    k = xsimd::to_float(n);
#endif
    if constexpr (is_coarse<T>) {
      r = negative_multiply_add(k, Floats(0.693147180559945309F), x);
    } else {
      r = negative_multiply_add(k, Floats(-2.12194440e-4F), negative_multiply_add(k, Floats(0.693359375F), x));
    }
  }

  /// exp(r) - 1, with the polynomial of expf in Cephes. For bfloat16 one of degree 4, whose absolute error is 2.8e-6.
  [[gnu::always_inline]] Floats rest() const {
    if constexpr (is_coarse<T>) {
      Floats p = multiply_add(Floats(0.0415136851F), r, Floats(0.167875931F));
      p = multiply_add(p, r, Floats(0.50003022F));
      return multiply_add(p, r, Floats(0.9999668F)) * r;
    }
    Floats p = multiply_add(Floats(1.9875691500e-4F), r, Floats(1.3981999507e-3F));
    p = multiply_add(p, r, Floats(8.3334519073e-3F));
    p = multiply_add(p, r, Floats(4.1665795894e-2F));
    p = multiply_add(p, r, Floats(1.6666665459e-1F));
    p = multiply_add(p, r, Floats(5.0000001201e-1F));
    return multiply_add(p * r, r, r);
  }

  /// 2^k x.
  [[gnu::always_inline]] Floats scale(const Floats& x) const {
#if defined(__AVX512F__)
    return _mm512_scalef_ps(x.data, k.data);
#else
    const Ints half = n >> 1;  // 2^n itself may be out of range
    return x * power_of_2(half) * power_of_2(n - half);
#endif
  }
};

/// exp(x) to 1 unit in the last place, for x in [-104, 89] or NaN.
template <class T = float>
[[gnu::always_inline]] inline Floats bounded_exponential(const Floats& x) {
  const Exponent<T> e(x);
  return e.scale(e.rest() + Floats(1.0F));
}

/// exp(x) to 1 unit in the last place, for the whole range of float32 including denormals (xsimd's own exp is limited
/// to |x| <= 88.37).
template <class T = float>
[[gnu::always_inline]] inline Floats exponential(const Floats& x) {
  return bounded_exponential<T>(xsimd::min(Floats(89.0F), xsimd::max(Floats(-104.0F), x)));
}

/// For x >= far, sigmoid(x) and the normal distribution function are 1 in float32. For x <= -far their products with x
/// are 0 or negligible.
constexpr float far = 20.0F;

/// x clipped to [-far, far]; NaN stays NaN.
[[gnu::always_inline]] inline Floats bounded(const Floats& x) {
  return xsimd::min(Floats(far), xsimd::max(Floats(-far), x));
}

/// c[0] x^(n-1) + ... + c[n-1].
template <int n>
[[gnu::always_inline]] inline Floats polynomial(const Floats& x, const float (&c)[n]) {
  Floats p(c[0]);
  for (int i = 1; i < n; ++i) p = multiply_add(p, x, Floats(c[i]));
  return p;
}

/// 1 / x to 1 unit in the last place, for normal numbers x whose inverses are normal numbers. Zen 5 divides in 7
/// cycles.
template <class T = float>
[[gnu::always_inline]] inline Floats inverse(const Floats& x) {
#if defined(__AVX512F__)
  const Floats near = _mm512_rcp14_ps(x.data);
  if constexpr (is_coarse<T>) return near;
  return multiply_add(near, negative_multiply_add(x, near, Floats(1.0F)), near);
#else
  return Floats(1.0F) / x;
#endif
}

/// a / b, as precise as inverse().
template <class T = float>
[[gnu::always_inline]] inline Floats quotient(const Floats& a, const Floats& b) {
#if defined(__AVX512F__)
  const Floats near = _mm512_rcp14_ps(b.data), q = a * near;
  if constexpr (is_coarse<T>) return q;
  return multiply_add(negative_multiply_add(q, b, a), near, q);
#else
  return a / b;
#endif
}

/// x with the sign of `of`; x is positive.
[[gnu::always_inline]] inline Floats with_sign(const Floats& x, const Floats& of) { return x | (of & Floats(-0.0F)); }

/// tanh(x) to 2.5 units in the last place: d / (d + 2) with d = exp(2 |x|) - 1 and the sign of x.
template <class T = float>
[[gnu::always_inline]] inline Floats hyperbolic_tangent(const Floats& x) {
  const Floats one(1.0F), a = xsimd::min(Floats(far), xsimd::abs(x));
  const Exponent<T> e(a + a);
  const Floats power = e.scale(one), d = multiply_add(power, e.rest(), power - one);
  return with_sign(quotient<T>(d, d + Floats(2.0F)), x);
}

/// 1 / (1 + exp(-x)) to 2 units in the last place and its derivative to 4, also where they are small.
template <class T = float>
struct Logistic {
  Floats value, slope;

  [[gnu::always_inline]] explicit Logistic(const Floats& x) {
    const Floats zero(0.0F), one(1.0F);
    const Floats small = bounded_exponential<T>(xsimd::max(Floats(-104.0F), x | Floats(-0.0F)));  // exp(-|x|)
    const Floats share = inverse<T>(one + small);
    value = xsimd::select(x < zero, small, one) * share;
    slope = small * share * share;
  }
};

/// The logistic function as factors. Products with the factors are normal numbers also where the function itself is too
/// small for one.
template <class T = float>
class LogisticFactors {
 public:
  /// 1 / (1 + exp(-x)); 0 below -120.
  [[gnu::always_inline]] explicit LogisticFactors(const Floats& x)
      : below_(x < Floats(0.0F)),
        exponent_(xsimd::max(Floats(-120.0F), x | Floats(-0.0F))),  // of -|x|
        power_(exponent_.rest() + Floats(1.0F)),
        small_(exponent_.scale(power_)),
        share_(inverse<T>(Floats(1.0F) + small_)) {}

  /// a / (1 + exp(-x)).
  [[gnu::always_inline]] Floats times(const Floats& a) const {
    return xsimd::select(below_, exponent_.scale(a * power_ * share_), a * share_);
  }

  /// 1 / (1 + exp(x)).
  [[gnu::always_inline]] Floats rest() const { return xsimd::select(below_, Floats(1.0F), small_) * share_; }

 private:
  decltype(Floats() < Floats()) below_;
  Exponent<T> exponent_;
  Floats power_, small_, share_;
};

/// The normal distribution function and the density. The function at -|x| is exp(-x^2 / 2) P(t), t = 1 / (1 + 0.3 |x|).
/// P is the minimax polynomial of degree 10 for the relative error on [-20, 0], which is 4e-9. The error of the result
/// is therefore that of float32 arithmetic: about 4 units in the last place, and a few more far below 0 without fused
/// products. For bfloat16 the degree is 6 and the error 2e-6 on [-14, 0].
template <class T = float>
struct Normal {
  Floats cumulative, density;
  Floats ratio;  ///< P: the function at -|x|, divided by exp(-x^2 / 2)

  [[gnu::always_inline]] explicit Normal(const Floats& x)
      : exponent_(xsimd::max(Floats(-120.0F), Floats(-0.5F) * square_of(limited(x)))),
        power_(exponent_.rest() + Floats(1.0F)) {
    constexpr float tail[] = {-2.08727251e-2F, 1.13876932e-1F, -2.31858337e-1F, 1.97079161e-1F,
                              -8.43035893e-2F, 9.91305706e-2F, 7.71798967e-2F,  1.10558918e-1F,
                              1.19517545e-1F,  1.19691835e-1F, -2.08967192e-7F};
    constexpr float coarse_tail[] = {-0.0845933F,  0.240572587F, -0.0486441962F, 0.164764359F,
                                     0.106704563F, 0.121274695F, -7.97892644e-5F};
    const Floats half(0.5F), one(1.0F);
    const Floats a = limited(x);
    const Floats t = inverse<T>(multiply_add(a, Floats(0.3F), one));
    if constexpr (is_coarse<T>) {
      ratio = polynomial(t, coarse_tail);
    } else {
      const Floats lost =
          multiply_subtract(a, a, square_of(a));  // rounding error of the square; 0 without fused products
      power_ = power_ * negative_multiply_add(half, lost, one);
      ratio = polynomial(t, tail);
    }
    const Floats bell = exponent_.scale(power_), upper = bell * ratio;
    cumulative = xsimd::select(x < Floats(0.0F), upper, one - upper);
    density = bell * density_at_0;
  }

  /// a exp(-x^2 / 2), also where exp(-x^2 / 2) is too small for a normal number and the product is not.
  [[gnu::always_inline]] Floats times_bell(const Floats& a) const { return exponent_.scale(a * power_); }

  static constexpr float density_at_0 = 0.398942280401432678F;

 private:
  [[gnu::always_inline]] static Floats limited(const Floats& x) { return xsimd::min(Floats(far), xsimd::abs(x)); }
  [[gnu::always_inline]] static Floats square_of(const Floats& x) { return x * x; }

  Exponent<T> exponent_;
  Floats power_;
};

/// @name Approximate GELU (Hendrycks and Gimpel, 2016)
/// The normal distribution function is about 1 / (1 + exp(-x gelu_factor(x))).
/// @{
[[gnu::always_inline]] inline Floats gelu_factor(const Floats& x) {
  return multiply_add(x * x, Floats(0.0713548162726F), Floats(1.59576912160573F));
}
/// The derivative of x gelu_factor(x).
[[gnu::always_inline]] inline Floats gelu_slope(const Floats& x) {
  return multiply_add(x * x, Floats(0.2140644488178F), Floats(1.59576912160573F));
}
/// @}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
