#pragma once
// Activation functions of whole registers, for .isa.cpp files.
#include <mezzo/backends/xsimd/math.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// From here on sigmoid(x) and the normal distribution's function are 1 in float32, and from -far on downwards their
/// products with x are 0 or hardly more.
constexpr float far = 20.0F;

/// x within [-far, far]; NaN stays.
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

/// tanh(x) to 1.2 units in the last place, by Cephes' tanhf: a polynomial below 0.625, else 1 - 2 / (exp(2 |x|) + 1).
[[gnu::always_inline]] inline Floats hyperbolic_tangent(const Floats& x) {
  constexpr float odd[] = {-5.70498872745e-3F, 2.06390887954e-2F, -5.37397155531e-2F, 1.33314422036e-1F,
                           -3.33332819422e-1F};
  const Floats sign_bit(-0.0F), one(1.0F), two(2.0F);
  const Floats sign = x & sign_bit, a = xsimd::abs(x), square = a * a;
  const Floats near = multiply_add(polynomial(square, odd) * square, a, a);
  const Floats away = one - two / (exponential(a + a) + one);
  return xsimd::select(a < Floats(0.625F), near, away) | sign;
}

/// 1 / (1 + exp(-x)) to 2 units in the last place, and its derivative to 4: also where they are small.
struct Logistic {
  Floats value, slope;

  [[gnu::always_inline]] explicit Logistic(const Floats& x) {
    const Floats zero(0.0F), one(1.0F);
    const Floats small = exponential(-xsimd::abs(x)), total = one + small;
    value = xsimd::select(x < zero, small, one) / total;
    slope = small / (total * total);
  }
};

/// The normal distribution's function and density. The function at -|x| is exp(-x^2 / 2) P(t), t = 1 / (1 + 0.3 |x|),
/// with the polynomial P of degree 10 whose largest relative error on [-20, 0] is least: 4e-9, so that the errors of
/// float32, about 4 units in the last place, are all that is seen. Far below 0, where products are not fused, a few
/// more.
struct Normal {
  Floats cumulative, density;

  [[gnu::always_inline]] explicit Normal(const Floats& x) {
    constexpr float tail[] = {-2.08727251e-2F, 1.13876932e-1F, -2.31858337e-1F, 1.97079161e-1F,
                              -8.43035893e-2F, 9.91305706e-2F, 7.71798967e-2F,  1.10558918e-1F,
                              1.19517545e-1F,  1.19691835e-1F, -2.08967192e-7F};
    const Floats half(0.5F), one(1.0F);
    const Floats a = xsimd::min(Floats(far), xsimd::abs(x)), square = a * a;
    const Floats lost = multiply_subtract(a, a, square);  // 0 without fused products
    const Floats bell = exponential(-half * square) * negative_multiply_add(half, lost, one);
    const Floats upper = bell * polynomial(one / multiply_add(a, Floats(0.3F), one), tail);
    cumulative = xsimd::select(x < Floats(0.0F), upper, one - upper);
    density = bell * Floats(0.398942280401432678F);
  }
};

/// Hendrycks and Gimpel's approximation: the normal distribution's function is about 1 / (1 + exp(-x gelu_factor(x))).
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
