#pragma once
// Elementwise ops as function objects of registers, for .isa.cpp files: elementwise.isa.cpp makes kernels of them,
// chain.isa.cpp steps of chains. Both compute the same bits.
#include <mezzo/backends/xsimd/math.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

struct Relu {
  // max returns its second operand if one is NaN.
  Floats operator()(const Floats& x) const { return xsimd::max(Floats(0.0F), x); }
};

struct Relu6 {
  Floats operator()(const Floats& x) const { return xsimd::max(Floats(0.0F), xsimd::min(Floats(6.0F), x)); }
};

template <class T>
struct Exp {
  Floats operator()(const Floats& x) const { return exponential<T>(x); }
};

// xsimd splits numbers by their bits. The sum replaces a denormal number by 0 if arithmetic treats it as 0.
struct Log {
  Floats operator()(const Floats& x) const { return xsimd::log(x + Floats(0.0F)); }
};

struct Negative {
  Floats operator()(const Floats& x) const { return -x; }
};

struct Abs {
  Floats operator()(const Floats& x) const { return xsimd::abs(x); }
};

// Zeros keep their sign, NaN stays.
struct Sign {
  Floats operator()(const Floats& x) const {
    const Floats sign = x & Floats(-0.0F);
    return xsimd::select(x == Floats(0.0F), sign, xsimd::select(x == x, Floats(1.0F) | sign, x));
  }
};

template <class T>
struct Tanh {
  Floats operator()(const Floats& x) const { return hyperbolic_tangent<T>(x); }
};

template <class T>
struct Sigmoid {
  Floats operator()(const Floats& x) const { return Logistic<T>(x).value; }
};

// Bounded below, as gelu.
template <class T>
struct Silu {
  Floats operator()(const Floats& x) const { return LogisticFactors<T>(x).times(xsimd::max(Floats(-120.0F), x)); }
};

// x is bounded below, so that gelu(-infinity) is 0 and not -infinity times 0.
template <class T>
struct Gelu {
  Floats operator()(const Floats& x) const {
    const Normal<T> normal(x);
    const Floats least = xsimd::max(Floats(-far), x);
    return xsimd::select(x < Floats(0.0F), normal.times_bell(least * normal.ratio), least * normal.cumulative);
  }
};

template <class T>
struct ApproximateGelu {
  Floats operator()(const Floats& x) const {
    const Floats least = xsimd::max(Floats(-far), x);
    return LogisticFactors<T>(least * gelu_factor(least)).times(least);
  }
};

/// log(1 + t) for t in [0, 1] to 1 unit in the last place, as t less a correction, as log1p of fdlibm: with s = t / (2
/// + t), 2 artanh(s) by its series, in which s^2 is at most 1/9.
[[gnu::always_inline]] inline Floats log_of_1_plus(const Floats& t) {
  constexpr float even[] = {2.0F / 15, 2.0F / 13, 2.0F / 11, 2.0F / 9, 2.0F / 7, 2.0F / 5, 2.0F / 3};
  const Floats s = t / (t + Floats(2.0F)), square = s * s, half = Floats(0.5F) * t * t;
  return t - negative_multiply_add(s, multiply_add(polynomial(square, even), square, half), half);
}

// max() returns its second operand where one is NaN.
struct Softplus {
  Floats operator()(const Floats& x) const {
    return xsimd::max(Floats(0.0F), x) + log_of_1_plus(exponential(-xsimd::abs(x)));
  }
};

struct Add {
  Floats operator()(const Floats& a, const Floats& b) const { return a + b; }
};

struct Subtract {
  Floats operator()(const Floats& a, const Floats& b) const { return a - b; }
};

struct Multiply {
  Floats operator()(const Floats& a, const Floats& b) const { return a * b; }
};

struct Divide {
  Floats operator()(const Floats& a, const Floats& b) const { return a / b; }
};

struct ReluGradient {
  Floats operator()(const Floats& y, const Floats& g) const {
    const Floats zero(0.0F);
    return xsimd::select(y > zero, g, zero);
  }
};

struct Relu6Gradient {
  Floats operator()(const Floats& y, const Floats& g) const {
    const Floats zero(0.0F);
    return xsimd::select((y > zero) & (y < Floats(6.0F)), g, zero);
  }
};

struct TanhGradient {
  Floats operator()(const Floats& y, const Floats& g) const {
    const Floats one(1.0F);
    return g * ((one - y) * (one + y));
  }
};

struct SigmoidGradient {
  Floats operator()(const Floats& y, const Floats& g) const { return g * (y * (Floats(1.0F) - y)); }
};

template <class T>
struct GeluGradient {
  Floats operator()(const Floats& x, const Floats& g) const {
    const Normal<T> normal(x);
    const Floats b = bounded(x), at_0(Normal<T>::density_at_0);
    return g * xsimd::select(x < Floats(0.0F), normal.times_bell(multiply_add(b, at_0, normal.ratio)),
                             multiply_add(b, normal.density, normal.cumulative));
  }
};

/// Derivative of x s(u) for the logistic function s and a u with the derivative `slope`.
template <class T>
[[gnu::always_inline]] inline Floats logistic_product_slope(const Floats& x, const Floats& u, const Floats& slope) {
  const LogisticFactors<T> logistic(u);
  return logistic.times(multiply_add(x * logistic.rest(), slope, Floats(1.0F)));
}

template <class T>
struct ApproximateGeluGradient {
  Floats operator()(const Floats& x, const Floats& g) const {
    const Floats b = bounded(x);
    return g * logistic_product_slope<T>(b, b * gelu_factor(b), gelu_slope(b));
  }
};

template <class T>
struct SiluGradient {
  Floats operator()(const Floats& x, const Floats& g) const {
    const Floats b = xsimd::min(Floats(120.0F), xsimd::max(Floats(-120.0F), x));
    return g * logistic_product_slope<T>(b, b, Floats(1.0F));
  }
};

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
