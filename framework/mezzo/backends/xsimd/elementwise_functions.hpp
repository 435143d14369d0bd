#pragma once
// Elementwise ops as function objects of registers, for .isa.cpp files: elementwise.isa.cpp makes kernels of them,
// chain.isa.cpp steps of chains. Both give the same bits.
#include <mezzo/backends/xsimd/math.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

struct Relu {
  // max gives its second operand if one is NaN.
  Floats operator()(const Floats& x) const { return xsimd::max(Floats(0.0F), x); }
};

struct Relu6 {
  Floats operator()(const Floats& x) const { return xsimd::max(Floats(0.0F), xsimd::min(Floats(6.0F), x)); }
};

template <class T>
struct Exp {
  Floats operator()(const Floats& x) const { return exponential<T>(x); }
};

// xsimd takes numbers apart by their bits: the sum makes a zero of a denormal number that arithmetic takes for one.
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

// x is bounded below, so that gelu(-infinity) is 0 and not -infinity times 0.
template <class T>
struct Gelu {
  Floats operator()(const Floats& x) const { return xsimd::max(Floats(-far), x) * Normal<T>(x).cumulative; }
};

template <class T>
struct ApproximateGelu {
  Floats operator()(const Floats& x) const {
    const Floats least = xsimd::max(Floats(-far), x);
    return least * Logistic<T>(least * gelu_factor(least)).value;
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
    return g * multiply_add(bounded(x), normal.density, normal.cumulative);
  }
};

template <class T>
struct ApproximateGeluGradient {
  Floats operator()(const Floats& x, const Floats& g) const {
    const Floats b = bounded(x);
    const Logistic<T> logistic(b * gelu_factor(b));
    return g * multiply_add(b * logistic.slope, gelu_slope(b), logistic.value);
  }
};

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
