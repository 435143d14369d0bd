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
  template <class F>
  F operator()(const F& x) const {
    return exponential<T>(x);
  }
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
  template <class F>
  F operator()(const F& x) const {
    return hyperbolic_tangent<T>(x);
  }
};

template <class T>
struct Sigmoid {
  template <class F>
  F operator()(const F& x) const {
    return logistic<T>(x);
  }
};

// Products at -|x| take a bounded x, so that silu(-infinity) is 0 and not -infinity times 0.

template <class T>
struct Silu {
  template <class F>
  F operator()(const F& x) const {
    const F a = magnitude(x, most_silu);
    return logistic_product<T>(x, a, a);
  }
};

template <class T>
struct Gelu {
  template <class F>
  F operator()(const F& x) const {
    const F a = magnitude(x, most_normal);
    // max returns its second operand if one is NaN.
    return max(F(0.0F), x) - NormalTail<T, F, Powers::normal>(a).times(a);
  }
};

template <class T>
struct ApproximateGelu {
  template <class F>
  F operator()(const F& x) const {
    const F a = magnitude(x, most_approximate);
    return logistic_product<T>(x, a, a * gelu_factor(a * a));
  }
};

/// log(1 + t) for t in [0, 1] to 1 unit in the last place, as t less a correction, as log1p of fdlibm: with s = t / (2
/// + t), 2 artanh(s) by its series, in which s^2 is at most 1/9.
template <class F>
[[gnu::always_inline]] inline F log_of_1_plus(const F& t) {
  constexpr float even[] = {2.0F / 15, 2.0F / 13, 2.0F / 11, 2.0F / 9, 2.0F / 7, 2.0F / 5, 2.0F / 3};
  const F s = t / (t + F(2.0F)), square = s * s, half = F(0.5F) * t * t;
  return t - negative_multiply_add(s, multiply_add(polynomial(square, even), square, half), half);
}

// max() returns its second operand where one is NaN.
struct Softplus {
  template <class F>
  F operator()(const F& x) const {
    return max(F(0.0F), x) + log_of_1_plus(low_exponential(-abs(x)));
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
  template <class F>
  F operator()(const F& x, const F& g) const {
    const F a = magnitude(x, most_low);  // the slope is a normal number where the function is none
    const NormalTail<T, F, Powers::low> normal(a);
    return g * mirrored(x, normal.times_bell(negative_multiply_add(a, F(normal.density_at_0), normal.ratio())));
  }
};

template <class T>
struct ApproximateGeluGradient {
  template <class F>
  F operator()(const F& x, const F& g) const {
    const F v = opposite(x, -approximate_is_x, most_approximate), square = v * v;
    return g * logistic_derivative<T>(v, v * gelu_factor(square), gelu_slope(square));
  }
};

template <class T>
struct SiluGradient {
  template <class F>
  F operator()(const F& x, const F& g) const {
    const F v = opposite(x, -silu_is_x, most_silu);
    return g * logistic_derivative<T>(v, v, F(1.0F));
  }
};

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
