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

/// The normal distribution's function and density. With a = |x| / sqrt(2) by Cephes' ndtrf: erf(a) by a polynomial up
/// to a = 1, beyond erfc(a) = exp(-a^2) / a P(1 / a^2). The function is within 1e-7 of the exact one, and for x above 0
/// within 1.7 units in the last place; below, within 10 down to -5, and to the end where products are fused.
struct Normal {
  Floats cumulative, density;

  [[gnu::always_inline]] explicit Normal(const Floats& x) {
    constexpr float of_erf[] = {7.853861353153693e-5F,  -8.010193625184903e-4F, 5.188327685732524e-3F,
                                -2.685381193529856e-2F, 1.128358514861418e-1F,  -3.761262582423300e-1F,
                                1.128379165726710F};
    constexpr float below_2[] = {2.326819970068386e-2F,  -1.387039388740657e-1F, 3.687424674597105e-1F,
                                 -5.824733027278666e-1F, 6.210004621745983e-1F,  -4.944515323274145e-1F,
                                 3.404879937665872e-1F,  -2.741127028184656e-1F, 5.638259427386472e-1F};
    constexpr float above_2[] = {-1.047766399936249e+1F, 1.297719955372516e+1F, -7.495518717768503F,
                                 2.921019019210786F,     -1.015265279202700F,   4.218463358204948e-1F,
                                 -2.820767439740514e-1F, 5.641895067754075e-1F};
    const Floats half(0.5F), one(1.0F);
    const Floats a = xsimd::min(Floats(far), xsimd::abs(x)), square = a * a;
    const Floats lost = multiply_subtract(a, a, square);  // 0 without fused products
    const Floats bell = exponential(-half * square) * (one - half * lost);
    const Floats root = a * Floats(0.707106781186547524F);
    const Floats q = one / root, q2 = q * q;
    const Floats p = xsimd::select(root < Floats(2.0F), polynomial(q2, below_2), polynomial(q2, above_2));
    const Floats center = negative_multiply_add(half * root, polynomial(half * square, of_erf), half);
    const Floats upper = xsimd::select(root < one, center, half * bell * q * p);
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
