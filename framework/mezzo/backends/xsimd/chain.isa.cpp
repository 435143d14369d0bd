#include <math.h>

#include <type_traits>

#include <mezzo/backends/xsimd/chain.hpp>
#include <mezzo/backends/xsimd/division_functions.hpp>
#include <mezzo/backends/xsimd/grouped.hpp>
#include <mezzo/backends/xsimd/rounding.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

[[gnu::always_inline]] inline Floats number(const Mask& mask) {
  return xsimd::select(mask, Floats(1.0F), Floats(0.0F));
}

struct Copy {
  Floats operator()(const Floats& x) const { return x; }
};

struct Truth {
  Floats operator()(const Floats& x) const { return xsimd::select(x == Floats(0.0F), Floats(0.0F), Floats(1.0F)); }
};

struct Sqrt {
  Floats operator()(const Floats& x) const { return xsimd::sqrt(x); }
};

struct Rsqrt {
  Floats operator()(const Floats& x) const { return Floats(1.0F) / xsimd::sqrt(x); }
};

struct Log1p {
  Floats operator()(const Floats& x) const { return xsimd::log1p(x); }
};

struct Equal {
  Floats operator()(const Floats& a, const Floats& b) const { return number(a == b); }
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

/// Calls body(i, part) for each register of [0, n), or for groups if the function takes these.
template <class Function, class... Groups, class Body>
[[gnu::always_inline]] inline void for_steps(std::int64_t n, const Body& body) {
  if constexpr (takes_groups<Function, Groups...>) {
    for_groups(0, n, body);
  } else {
    for_registers(0, n, body);
  }
}

template <class Function>
[[gnu::flatten]] void unary(const float* a, const float*, const float*, float* out, std::int64_t n) {
  for_steps<Function, Grouped>(n,
                               [&](std::int64_t i, auto part) { store(out + i, Function{}(load(a + i, part)), part); });
}

template <class Function>
[[gnu::flatten]] void binary(const float* a, const float* b, const float*, float* out, std::int64_t n) {
  for_steps<Function, Grouped, Grouped>(
      n, [&](std::int64_t i, auto part) { store(out + i, Function{}(load(a + i, part), load(b + i, part)), part); });
}

template <class Function>
[[gnu::flatten]] void ternary(const float* a, const float* b, const float* c, float* out, std::int64_t n) {
  for_registers(0, n, [&](std::int64_t i, auto part) {
    store(out + i, Function{}(load(a + i, part), load(b + i, part), load(c + i, part)), part);
  });
}

// Functions of the C library, element by element: within 1 unit in the last place, with C's results for NaN and
// infinities.

template <float (*function)(float, float)>
void each(const float* a, const float* b, const float*, float* out, std::int64_t n) {
  const auto seen = [](float x) { return x == 0 ? __builtin_copysignf(0.0F, x) : x; };  // as as_seen()
  for (std::int64_t i = 0; i < n; ++i) out[i] = function(seen(a[i]), seen(b[i]));
}

[[gnu::flatten]] void store_bools(const float* x, std::uint8_t* y, std::int64_t count) {
  for_registers(0, count, [&](std::int64_t i, auto part) {
    store_bytes(y + i, xsimd::select(xsimd::bitwise_cast<Ints>(load(x + i, part)) == Ints(0), Ints(0), Ints(1)), part);
  });
}

template <class T>
[[gnu::flatten]] void round_to(float* x, std::int64_t n) {
  std::int64_t done = 0;
  for (; done + together * lanes <= n; done += together * lanes) {
    Floats group[together];
    for (int j = 0; j < together; ++j) group[j] = load(x + done + j * lanes, Whole{});
    round_all<T>(group);
    for (int j = 0; j < together; ++j) store(x + done + j * lanes, group[j], Whole{});
  }
  for_registers(done, n, [&](std::int64_t i, auto part) { store(x + i, rounded<T>(load(x + i, part)), part); });
}

template <class T>
[[gnu::flatten]] void store_numbers(const float* x, void* y, std::int64_t count) {
  T* const to = static_cast<T*>(y);
  for_registers(0, count, [&](std::int64_t i, auto part) { store(to + i, load(x + i, part), part, true); });
}

constexpr ChainFunctions::Row rows[] = {
    {.op = "abs", .step = unary<Abs>},
    {.op = "add", .step = binary<Add>},
    {.op = "arccos", .step = unary<Guarded<ArcCos, acosf>>},
    {.op = "arccosh", .step = unary<Guarded<ArcCosh, acoshf>>},
    {.op = "arcsin", .step = unary<Guarded<ArcSin, asinf>>},
    {.op = "arcsinh", .step = unary<Guarded<ArcSinh, asinhf>>},
    {.op = "arctan", .step = unary<ArcTan>},
    {.op = "arctan2", .step = binary<GuardedPair<ArcTan2, atan2f>>},
    {.op = "arctanh", .step = unary<Guarded<ArcTanh, atanhf>>},
    {.op = "cbrt", .step = unary<Guarded<CubeRoot, cbrtf>>},
    {.op = "ceil", .step = unary<Rounding<Up>>},
    {.op = "cos", .step = unary<Guarded<Wave<1>, cosf>>},
    {.op = "cosh", .step = unary<Guarded<Cosh, coshf>>},
    {.op = "divide", .step = binary<Divide>},
    {.op = "equal", .step = binary<Equal>},
    {.op = "erf", .step = unary<Erf>},
    {.op = "erfc", .step = unary<Guarded<Erfc, erfcf>>},
    {.op = "erfinv", .step = unary<Guarded<ErfInv, inverse_erf>>},
    {.op = "exp", .step = unary<Exp<float>>, .bfloat16 = unary<Exp<bfloat16>>},
    {.op = "exp2", .step = unary<Exp2>},
    {.op = "expm1", .step = unary<Expm1>},
    {.op = "floor", .step = unary<Rounding<Down>>},
    {.op = "floor_divide", .step = binary<GuardedPair<FloorDivide, floor_divide>>},
    {.op = "fmod", .step = binary<GuardedPair<Fmod, fmodf>>},
    {.op = "gelu", .step = unary<Gelu<float>>, .bfloat16 = unary<Gelu<bfloat16>>},
    {.op = "gelu",
     .step = unary<ApproximateGelu<float>>,
     .approximate = true,
     .bfloat16 = unary<ApproximateGelu<bfloat16>>},
    {.op = "gelu_gradient", .step = binary<GeluGradient<float>>, .bfloat16 = binary<GeluGradient<bfloat16>>},
    {.op = "gelu_gradient",
     .step = binary<ApproximateGeluGradient<float>>,
     .approximate = true,
     .bfloat16 = binary<ApproximateGeluGradient<bfloat16>>},
    {.op = "hypot", .step = binary<GuardedPair<Hypot, hypotf>>},
    {.op = "less", .step = binary<Less>},
    {.op = "less_equal", .step = binary<LessEqual>},
    {.op = "log", .step = unary<Log>},
    {.op = "log10", .step = unary<Guarded<Log10, log10f>>},
    {.op = "log1p", .step = unary<Log1p>},
    {.op = "log2", .step = unary<Guarded<Log2, log2f>>},
    {.op = "logaddexp", .step = binary<GuardedPair<LogAddExp, logaddexp>>},
    {.op = "logical_and", .step = binary<Multiply>},
    {.op = "logical_not", .step = unary<Not>},
    {.op = "logical_or", .step = binary<Or>},
    {.op = "maximum", .step = binary<Maximum>},
    {.op = "minimum", .step = binary<Minimum>},
    {.op = "mod", .step = binary<GuardedPair<Mod, mod>>},
    {.op = "multiply", .step = binary<Multiply>},
    {.op = "negative", .step = unary<Negative>},
    {.op = "power", .step = each<powf>},
    {.op = "relu", .step = unary<Relu>},
    {.op = "relu", .step = unary<Relu6>, .max_value = 6},
    {.op = "relu_gradient", .step = binary<ReluGradient>},
    {.op = "relu_gradient", .step = binary<Relu6Gradient>, .max_value = 6},
    {.op = "round", .step = unary<Rounding<ToNearest>>},
    {.op = "rsqrt", .step = unary<Rsqrt>},
    {.op = "sigmoid", .step = unary<Sigmoid<float>>, .bfloat16 = unary<Sigmoid<bfloat16>>},
    {.op = "sigmoid_gradient", .step = binary<SigmoidGradient>},
    {.op = "sign", .step = unary<Sign>},
    {.op = "silu", .step = unary<Silu<float>>, .bfloat16 = unary<Silu<bfloat16>>},
    {.op = "silu_gradient", .step = binary<SiluGradient<float>>, .bfloat16 = binary<SiluGradient<bfloat16>>},
    {.op = "sin", .step = unary<Guarded<Wave<0>, sinf>>},
    {.op = "sinh", .step = unary<Guarded<Sinh, sinhf>>},
    {.op = "softplus", .step = unary<Softplus>},
    {.op = "sqrt", .step = unary<Sqrt>},
    {.op = "subtract", .step = binary<Subtract>},
    {.op = "tan", .step = unary<Guarded<Tan, tanf>>},
    {.op = "tanh", .step = unary<Tanh<float>>, .bfloat16 = unary<Tanh<bfloat16>>},
    {.op = "tanh_gradient", .step = binary<TanhGradient>},
    {.op = "trunc", .step = unary<Rounding<TowardsZero>>},
    {.op = "where", .step = ternary<Where>},
};

}  // namespace

constexpr ChainFunctions chain{
    .rows = rows,
    .copy = unary<Copy>,
    .truth = unary<Truth>,
    .store_bools = store_bools,
    .round = {.float32 = nullptr, .bfloat16 = round_to<bfloat16>, .float16 = round_to<float16>},
    .store_past_caches = {
        .float32 = store_numbers<float>, .bfloat16 = store_numbers<bfloat16>, .float16 = store_numbers<float16>}};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
