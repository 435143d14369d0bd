#include <math.h>

#include <mezzo/backends/xsimd/chain.hpp>
#include <mezzo/backends/xsimd/elementwise_functions.hpp>
#include <mezzo/backends/xsimd/stream.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

[[gnu::always_inline]] inline Floats number(const Mask& mask) {
  return xsimd::select(mask, Floats(1.0F), Floats(0.0F));
}

[[gnu::always_inline]] inline Floats number(const IntMask& mask) { return choose(mask, Floats(1.0F), Floats(0.0F)); }

/// Integers in the order of the numbers, with -0 equal to 0; they tell denormals apart.
[[gnu::always_inline]] inline Ints order(const Floats& x) {
  const Ints bits = xsimd::bitwise_cast<Ints>(x), zero(0);
  return xsimd::select(bits < zero, Ints(-2147483647 - 1) - bits, bits);
}

struct Copy {
  Floats operator()(const Floats& x) const { return x; }
};

struct Truth {
  Floats operator()(const Floats& x) const { return number(xsimd::bitwise_cast<Ints>(xsimd::abs(x)) > Ints(0)); }
};

struct Sqrt {
  Floats operator()(const Floats& x) const { return xsimd::sqrt(x); }
};

struct Rsqrt {
  Floats operator()(const Floats& x) const { return Floats(1.0F) / xsimd::sqrt(x); }
};

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

struct Log1p {
  Floats operator()(const Floats& x) const { return xsimd::log1p(x); }
};

/// For |x| < log(2) / 2 the polynomial of exponential(), without its 1; elsewhere at most two bits are lost.
struct Expm1 {
  Floats operator()(const Floats& x) const {
    constexpr float p[] = {1.9875691500e-4F, 1.3981999507e-3F, 8.3334519073e-3F,
                           4.1665795894e-2F, 1.6666665459e-1F, 5.0000001201e-1F};
    const Floats near = multiply_add(polynomial(x, p) * x, x, x);
    const Floats away = exponential(x) - Floats(1.0F);
    const Floats sign = x & Floats(-0.0F);
    return xsimd::select(xsimd::abs(x) < Floats(0.3465F), near, away) | sign;
  }
};

/// Sine and cosine as sinf in Cephes: x less a multiple of pi / 2, in three parts, then a polynomial. Its multiples are
/// exact up to `limit`; the C library computes larger numbers, infinities and NaN, lane by lane.
template <float (*function)(float), int quarter>
struct Wave {
  Floats operator()(const Floats& x) const {
    const Floats limit(8192.0F), zero(0.0F), one(1.0F);
    const Mask inside = xsimd::abs(x) <= limit;
    const Floats safe = xsimd::select(inside, x, zero);
    const Ints n = xsimd::nearbyint_as_int(safe * Floats(0.636619772367581343F));
    const Floats k = xsimd::to_float(n);
    Floats r = negative_multiply_add(k, Floats(1.5703125F), safe);
    r = negative_multiply_add(k, Floats(4.837512969970703125e-4F), r);
    r = negative_multiply_add(k, Floats(7.54978995489188216e-8F), r);
    constexpr float odd[] = {-1.9515295891e-4F, 8.3321608736e-3F, -1.6666654611e-1F};
    constexpr float even[] = {2.443315711809948e-5F, -1.388731625493765e-3F, 4.166664568298827e-2F};
    const Floats square = r * r;
    const Floats sine = multiply_add(polynomial(square, odd) * square, r, r);
    const Floats cosine = multiply_add(polynomial(square, even) * square, square, one - square * Floats(0.5F));
    const Ints turn = n + Ints(quarter);
    const Floats sign = xsimd::bitwise_cast<Floats>((turn & Ints(2)) << 30);
    const Floats wave = choose((turn & Ints(1)) == Ints(0), sine, cosine) ^ sign;
    return inside_of(x, wave, inside);
  }

 private:
  static Floats inside_of(const Floats& x, const Floats& wave, const Mask& inside) {
    float flags[lanes], from[lanes], to[lanes];
    store(flags, xsimd::select(inside, Floats(0.0F), Floats(1.0F)), Whole{});
    float outside = 0;
    for (int i = 0; i < lanes; ++i) outside += flags[i];
    if (__builtin_expect(outside == 0, 1)) return wave;
    store(from, x, Whole{});
    store(to, wave, Whole{});
    for (int i = 0; i < lanes; ++i) {
      if (flags[i] != 0) to[i] = function(from[i]);
    }
    return load(static_cast<const float*>(to), Whole{});
  }
};

struct Equal {
  Floats operator()(const Floats& a, const Floats& b) const {
    return xsimd::select(a == b, number(order(a) == order(b)), Floats(0.0F));
  }
};

struct Less {
  Floats operator()(const Floats& a, const Floats& b) const { return number(a < b); }
};

struct LessEqual {
  Floats operator()(const Floats& a, const Floats& b) const { return number(a <= b); }
};

struct Not {
  Floats operator()(const Floats& x) const { return Floats(1.0F) - x; }
};

struct Or {
  Floats operator()(const Floats& a, const Floats& b) const { return xsimd::max(a, b); }
};

struct Maximum {
  Floats operator()(const Floats& a, const Floats& b) const {
    return xsimd::select(a > b, a, xsimd::select(a == a, b, a));
  }
};

struct Minimum {
  Floats operator()(const Floats& a, const Floats& b) const {
    return xsimd::select(a < b, a, xsimd::select(a == a, b, a));
  }
};

struct Where {
  Floats operator()(const Floats& condition, const Floats& a, const Floats& b) const {
    return xsimd::select(condition != Floats(0.0F), a, b);
  }
};

template <class Function>
[[gnu::flatten]] void unary(const float* a, const float*, const float*, float* out, std::int64_t n) {
  for_registers(0, n, [&](std::int64_t i, auto part) { store(out + i, Function{}(load(a + i, part)), part); });
}

template <class Function>
[[gnu::flatten]] void binary(const float* a, const float* b, const float*, float* out, std::int64_t n) {
  for_registers(
      0, n, [&](std::int64_t i, auto part) { store(out + i, Function{}(load(a + i, part), load(b + i, part)), part); });
}

template <class Function>
[[gnu::flatten]] void ternary(const float* a, const float* b, const float* c, float* out, std::int64_t n) {
  for_registers(0, n, [&](std::int64_t i, auto part) {
    store(out + i, Function{}(load(a + i, part), load(b + i, part), load(c + i, part)), part);
  });
}

// Functions of the C library, element by element: within 1 unit in the last place, with C's results for NaN and
// infinities.

template <float (*function)(float)>
void each(const float* a, const float*, const float*, float* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = function(a[i]);
}

template <float (*function)(float, float)>
void each(const float* a, const float* b, const float*, float* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = function(a[i], b[i]);
}

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

float logaddexp(float a, float b) {
  if (a == b) return a + 0.693147180559945309F;  // infinities too
  if (a != a || b != b) return a + b;
  const float high = a > b ? a : b, low = a > b ? b : a;
  return high + log1pf(expf(low - high));
}

[[gnu::flatten]] void store_bools(const float* x, std::uint8_t* y, std::int64_t count) {
  for_registers(0, count, [&](std::int64_t i, auto part) {
    store_bytes(y + i, xsimd::select(xsimd::bitwise_cast<Ints>(load(x + i, part)) == Ints(0), Ints(0), Ints(1)), part);
  });
}

constexpr ChainFunctions::Row rows[] = {
    {.op = "abs", .step = unary<Abs>},
    {.op = "add", .step = binary<Add>},
    {.op = "arccos", .step = each<acosf>},
    {.op = "arccosh", .step = each<acoshf>},
    {.op = "arcsin", .step = each<asinf>},
    {.op = "arcsinh", .step = each<asinhf>},
    {.op = "arctan", .step = each<atanf>},
    {.op = "arctan2", .step = each<atan2f>},
    {.op = "arctanh", .step = each<atanhf>},
    {.op = "cbrt", .step = each<cbrtf>},
    {.op = "ceil", .step = unary<Rounding<Up>>},
    {.op = "cos", .step = unary<Wave<cosf, 1>>},
    {.op = "cosh", .step = each<coshf>},
    {.op = "divide", .step = binary<Divide>},
    {.op = "equal", .step = binary<Equal>},
    {.op = "erf", .step = each<erff>},
    {.op = "erfc", .step = each<erfcf>},
    {.op = "exp", .step = unary<Exp>},
    {.op = "exp2", .step = each<exp2f>},
    {.op = "expm1", .step = unary<Expm1>},
    {.op = "floor", .step = unary<Rounding<Down>>},
    {.op = "floor_divide", .step = each<floor_divide>},
    {.op = "fmod", .step = each<fmodf>},
    {.op = "gelu", .step = unary<Gelu>},
    {.op = "gelu", .step = unary<ApproximateGelu>, .approximate = true},
    {.op = "gelu_gradient", .step = binary<GeluGradient>},
    {.op = "gelu_gradient", .step = binary<ApproximateGeluGradient>, .approximate = true},
    {.op = "hypot", .step = each<hypotf>},
    {.op = "less", .step = binary<Less>},
    {.op = "less_equal", .step = binary<LessEqual>},
    {.op = "log", .step = unary<Log>},
    {.op = "log10", .step = each<log10f>},
    {.op = "log1p", .step = unary<Log1p>},
    {.op = "log2", .step = each<log2f>},
    {.op = "logaddexp", .step = each<logaddexp>},
    {.op = "logical_and", .step = binary<Multiply>},
    {.op = "logical_not", .step = unary<Not>},
    {.op = "logical_or", .step = binary<Or>},
    {.op = "maximum", .step = binary<Maximum>},
    {.op = "minimum", .step = binary<Minimum>},
    {.op = "mod", .step = each<mod>},
    {.op = "multiply", .step = binary<Multiply>},
    {.op = "negative", .step = unary<Negative>},
    {.op = "power", .step = each<powf>},
    {.op = "relu", .step = unary<Relu>},
    {.op = "relu_gradient", .step = binary<ReluGradient>},
    {.op = "round", .step = unary<Rounding<ToNearest>>},
    {.op = "rsqrt", .step = unary<Rsqrt>},
    {.op = "sigmoid", .step = unary<Sigmoid>},
    {.op = "sigmoid_gradient", .step = binary<SigmoidGradient>},
    {.op = "sign", .step = unary<Sign>},
    {.op = "sin", .step = unary<Wave<sinf, 0>>},
    {.op = "sinh", .step = each<sinhf>},
    {.op = "softplus", .step = unary<Softplus>},
    {.op = "sqrt", .step = unary<Sqrt>},
    {.op = "subtract", .step = binary<Subtract>},
    {.op = "tan", .step = each<tanf>},
    {.op = "tanh", .step = unary<Tanh>},
    {.op = "tanh_gradient", .step = binary<TanhGradient>},
    {.op = "trunc", .step = unary<Rounding<TowardsZero>>},
    {.op = "where", .step = ternary<Where>},
};

}  // namespace

constexpr ChainFunctions chain{.rows = rows, .copy = unary<Copy>, .truth = unary<Truth>, .store_bools = store_bools};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
