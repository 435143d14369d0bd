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

/// c[0] x^(n-1) + ... + c[n-1].
template <int n, class F>
[[gnu::always_inline]] inline F polynomial(const F& x, const float (&c)[n]) {
  F p(c[0]);
#pragma GCC unroll 16
  for (int i = 1; i < n; ++i) p = multiply_add(p, x, F(c[i]));
  return p;
}

/// x^n + c[0] x^(n-1) + ... + c[n-1].
template <int n, class F>
[[gnu::always_inline]] inline F monic_polynomial(const F& x, const float (&c)[n]) {
  F p = x + F(c[0]);
#pragma GCC unroll 16
  for (int i = 1; i < n; ++i) p = multiply_add(p, x, F(c[i]));
  return p;
}

constexpr float log2_e = 1.44269504088896341F, log_2 = 0.693147180559945309F;

/// Whole numbers k for which 2^k is computed: from -150 to 128; from -173 to 63, with results that may be denormals;
/// from -127 to 127, where 2^-127 is 0 without AVX-512; from -62 to 190, as 2^(k-64).
enum class Powers { all, low, normal, shrunk };
constexpr float shrinking = 0x1p-64F;

/// Bounds at which falling_exponential() and the normal distribution function at -most_normal are 0, with powers that
/// are normal: k is -127 there. With low powers that function is 0 at -most_low.
#if defined(__AVX512F__)
constexpr float least_normal = -104.0F, most_normal = 15.0F;
#else
constexpr float least_normal = -88.0F, most_normal = 13.29F;
#endif
constexpr float most_low = 15.0F;

/// The whole number k next to a product or a number, and 2^k.
template <class F, Powers powers>
struct WholePower {
  F sum, k;

  [[gnu::always_inline]] WholePower(const F& x, float factor) : WholePower(Sum{multiply_add(x, F(factor), F(whole))}) {}
  [[gnu::always_inline]] explicit WholePower(const F& x) : WholePower(Sum{x + F(whole)}) {}

  /// 2^k x.
  [[gnu::always_inline]] F scale(const F& x) const {
#if defined(__AVX512F__)
    const F exponent = powers == Powers::shrunk ? k - F(64.0F) : k;
    return each([](const Floats& y, const Floats& n) { return Floats(_mm512_scalef_ps(y.data, n.data)); }, x, exponent);
#else
    const auto bits = as_ints(sum);
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

  /// 2^k x + y, for powers that are normal or shrunk.
  [[gnu::always_inline]] F scale_and_add(const F& x, const F& y) const {
#if defined(__AVX512F__)
    return scale(x) + y;
#else
    return multiply_add(x, as_floats(as_ints(sum) << 23), y);
#endif
  }

 private:
  struct Sum {
    F sum;
  };
  [[gnu::always_inline]] explicit WholePower(const Sum& of) : sum(of.sum), k(of.sum - F(whole)) {}

#if defined(__AVX512F__)
  static constexpr int bias = 0;
#else
  /// The lower 9 bits of the sum are k + bias.
  static constexpr int bias = powers == Powers::all      ? 254
                              : powers == Powers::low    ? 127 + 64
                              : powers == Powers::normal ? 127
                                                         : 127 - 64;
#endif
  static constexpr float whole = 12582912.0F + bias;  // sums with 1.5 2^23 are rounded to whole numbers
};

/// For bfloat16: exp(r) is polynomial(r, coarse_exponential) r + 1 for |r| <= log(2) / 2, with a relative error of
/// 2.8e-6.
constexpr float coarse_exponential[] = {0.0415136851F, 0.167875931F, 0.50003022F, 0.9999668F};

/// exp(r) for |r| <= log(2) / 2. The minimax polynomial of degree 6 whose last two coefficients are 1; its relative
/// error is 3e-9 (tests/backends/coefficients.py).
template <class T, class F>
[[gnu::always_inline]] inline F small_exponential(const F& r) {
  constexpr float fine[] = {0x1.6a3d12p-10F, 0x1.123858p-7F, 0x1.5558bep-5F, 0x1.555494p-3F, 0x1.fffffcp-2F, 1, 1};
  if constexpr (is_coarse<T>) return multiply_add(polynomial(r, coarse_exponential), r, F(1.0F));
  return polynomial(r, fine);
}

/// exp(r) - 1 for |r| <= log(2) / 2, with few units of error also for small r: with the polynomial of expf in Cephes.
template <class F>
[[gnu::always_inline]] inline F small_rest(const F& r) {
  constexpr float p[] = {1.9875691500e-4F, 1.3981999507e-3F, 8.3334519073e-3F,
                         4.1665795894e-2F, 1.6666665459e-1F, 5.0000001201e-1F};
  return multiply_add(polynomial(r, p) * r, r, r);
}

/// bell_factor exp(-r / 2) for |r| <= log(2): minimax polynomials of degree 5 with a relative error of 8e-8
/// (tests/backends/coefficients.py) and, for bfloat16, that of small_exponential().
template <class T, class F>
[[gnu::always_inline]] inline F small_bell(const F& r) {
  constexpr float fine[] = {-0x1.b1a322p-14F, 0x1.11ef04p-10F, -0x1.105d12p-7F,
                            0x1.98835ap-5F,   -0x1.988572p-3F, 0x1.98857cp-2F};
  constexpr auto& c = coarse_exponential;
  constexpr float coarse[] = {c[0] / 16, -c[1] / 8, c[2] / 4, -c[3] / 2, 1};
  if constexpr (is_coarse<T>) return polynomial(r, coarse);
  return polynomial(r, fine);
}
template <class T>
constexpr float bell_factor = is_coarse<T> ? 1.0F : 0.398946684F;

/// x = k log(2) + r with a whole k and |r| <= log(2) / 2.
template <class T, class F, Powers powers>
struct Exponent {
  WholePower<F, powers> whole;
  F r;

  [[gnu::always_inline]] explicit Exponent(const F& x) : whole(x, log2_e) {
    if constexpr (is_coarse<T>) {
      r = negative_multiply_add(whole.k, F(log_2), x);
    } else {
      r = negative_multiply_add(whole.k, F(-2.12194440e-4F), negative_multiply_add(whole.k, F(0.693359375F), x));
    }
  }

  /// exp(r) - 1.
  [[gnu::always_inline]] F rest() const {
    if constexpr (is_coarse<T>) return polynomial(r, coarse_exponential) * r;
    return small_rest(r);
  }

  /// exp(r). Without fused products the sum with 1 is rounded to fewer units.
  [[gnu::always_inline]] F power() const {
#if defined(__FMA__)
    return small_exponential<T>(r);
#else
    return rest() + F(1.0F);
#endif
  }

  /// 2^k x.
  [[gnu::always_inline]] F scale(const F& x) const { return whole.scale(x); }
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

/// exp(x) of a number x <= 0 to 1 unit in the last place. Without AVX-512 it is 0 below about -87.7, where it is no
/// normal number; with AVX-512 denormals go down to -104.
template <class T = float, class F>
[[gnu::always_inline]] inline F falling_exponential(const F& x) {
  const Exponent<T, F, Powers::normal> e(max(F(least_normal), x));
  return e.scale(e.power());
}

/// @name Functions of 1 / (1 + exp(u))
/// exp(u) is computed as 2^-64 exp(u), which is a normal number for -43 <= u <= 120. Quotients of it are scaled last:
/// 1 / exp(u) itself may be too small for a normal number.
/// @{

/// 2^-64 exp(u) and its sum with 2^-64.
template <class T, class F>
struct Odds {
  Exponent<T, F, Powers::shrunk> exponent;
  F power;

  [[gnu::always_inline]] explicit Odds(const F& u) : exponent(u), power(exponent.power()) {}

  [[gnu::always_inline]] F value() const { return exponent.scale(power); }
  [[gnu::always_inline]] F sum() const { return exponent.whole.scale_and_add(power, F(shrinking)); }
};

/// 1 / (1 + exp(-x)), also where it is small. The largest error measured is 1.7 units in the last place; tests allow 3.
template <class T = float, class F>
[[gnu::always_inline]] inline F logistic(const F& x) {
  return inverse<T>(Odds<T, F>(min(F(120.0F), max(F(-43.0F), -x))).sum()) * F(shrinking);
}

/// x / (1 + exp(-u(x))) for an odd function u: max(x, 0) - a / (1 + exp(u)), given a = |x|, which is bounded so that
/// the product for x = -infinity is 0, and u(a).
template <class T, class F>
[[gnu::always_inline]] inline F logistic_product(const F& x, const F& a, const F& u) {
  // max returns its second operand if one is NaN.
  return negative_multiply_add(quotient<T>(a, Odds<T, F>(u).sum()), F(shrinking), max(F(0.0F), x));
}

/// The derivative of x / (1 + exp(-u(x))) at -v, given u(v) for an odd function u, and its derivative there.
template <class T, class F>
[[gnu::always_inline]] inline F logistic_derivative(const F& v, const F& u, const F& slope) {
  const F odds = Odds<T, F>(u).value(), inverted = inverse<T>(odds + F(shrinking));
  return inverted * negative_multiply_add(v * slope, odds * inverted, F(1.0F)) * F(shrinking);
}

/// -x between bounds from which logistic_derivative() is 1 and 0; NaN stays NaN.
template <class F>
[[gnu::always_inline]] inline F opposite(const F& x, float least, float most) {
  return min(F(most), max(F(least), -x));
}
/// @}

/// The normal distribution function at -a is bell_factor exp(-a^2 / 2) P(a), for a from 0 to the bound of the
/// powers. P is the quotient of two polynomials of the least relative error, which is 1.5e-8 with float32 coefficients
/// (tests/backends/coefficients.py). The largest error measured of GELU is 5.6 units in the last place, mostly of
/// float32 arithmetic, and about 70 far below 0 without fused products. Tests allow 7 units down to -5 and 8 below,
/// 16 and 90 without fused products. For bfloat16 P is a polynomial of 1 / (1 + 0.3 a) with the error 2e-6.
template <class T, class F, Powers powers>
struct NormalTail {
  [[gnu::always_inline]] explicit NormalTail(const F& a) : NormalTail(a, a * a) {}

  /// P.
  [[gnu::always_inline]] F ratio() const {
    if constexpr (is_coarse<T>) return numerator_;
    return quotient<T>(numerator_, denominator_);
  }

  /// The function times `factor`.
  [[gnu::always_inline]] F times(const F& factor) const {
    const F product = times_bell(factor * numerator_);
    if constexpr (is_coarse<T>) return product;
    return quotient<T>(product, denominator_);
  }

  /// bell_factor exp(-a^2 / 2) times `factor`.
  [[gnu::always_inline]] F times_bell(const F& factor) const { return whole_.scale(factor * small_bell<T>(rest_)); }

  /// The density at 0 divided by bell_factor.
  static constexpr float density_at_0 = is_coarse<T> ? 0.398942280401432678F : 0.999988973F;

 private:
  [[gnu::always_inline]] NormalTail(const F& a, const F& square) : whole_(square, -0.5F * log2_e) {
#if defined(__FMA__)
    // P has the error of 2 log(2) as a float, which depends on k and so on a.
    rest_ = multiply_add(whole_.k, F(2 * log_2), square);
    if constexpr (!is_coarse<T>) rest_ = rest_ + multiply_subtract(a, a, square);  // the rounding error of the square
#else
    rest_ = multiply_add(whole_.k, F(-2 * 2.12194440e-4F), multiply_add(whole_.k, F(2 * 0.693359375F), square));
#endif
    if constexpr (is_coarse<T>) {
      constexpr float tail[] = {-0.0845933F,  0.240572587F, -0.0486441962F, 0.164764359F,
                                0.106704563F, 0.121274695F, -7.97892644e-5F};
      numerator_ = polynomial(inverse<T>(multiply_add(a, F(0.3F), F(1.0F))), tail);
    } else {
      constexpr float above[] = {9.91076469F, 44.816906F, 107.445938F, 122.911743F};
      constexpr float below[] = {9.91151619F, 45.8023109F, 117.560043F, 163.97934F, 98.0704651F};
      numerator_ = monic_polynomial(a, above);
      denominator_ = monic_polynomial(a, below);
    }
  }

  WholePower<F, powers> whole_;
  F rest_, numerator_, denominator_;
};

/// f(x) for an f with f(x) = 1 - f(-x), given f(-|x|).
template <class F>
[[gnu::always_inline]] inline F mirrored(const F& x, const F& small) {
  return select(x < F(0.0F), small, F(1.0F) - small);
}

/// @name Approximate GELU (Hendrycks and Gimpel, 2016)
/// The normal distribution function is about 1 / (1 + exp(-x gelu_factor(x))).
/// @{
template <class F>
[[gnu::always_inline]] inline F gelu_factor(const F& square) {
  return multiply_add(square, F(0.0713548162726F), F(1.59576912160573F));
}
/// The derivative of x gelu_factor(x).
template <class F>
[[gnu::always_inline]] inline F gelu_slope(const F& square) {
  return multiply_add(square, F(0.2140644488178F), F(1.59576912160573F));
}
/// @}

/// |x| from which the approximation of GELU and SiLU are 0 at -|x|. x from which their derivatives are 1.
constexpr float most_approximate = 11.0F, most_silu = 120.0F;
constexpr float approximate_is_x = 7.0F, silu_is_x = 42.0F;

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
