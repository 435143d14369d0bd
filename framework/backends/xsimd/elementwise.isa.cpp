#include <mezzo/backends/xsimd/elementwise.hpp>
#include <mezzo/backends/xsimd/math.hpp>
#include <mezzo/backends/xsimd/stream.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

template <class T, class Function>
[[gnu::always_inline]] inline void map(const void* x, void* y, std::int64_t count, const Function& function) {
  const T* const from = static_cast<const T*>(x);
  T* const to = static_cast<T*>(y);
  stream(
      count, [&](std::int64_t i, auto part) { store(to + i, function(load(from + i, part)), part); }, from);
}

template <class T, class Function>
[[gnu::always_inline]] inline void map_row(const T* a, const T* b, T* out, const BinaryShape& shape,
                                           const Function& function) {
  if (shape.b_step == 0) {
    const Floats one = load_one(b);
    stream(
        shape.columns, [&](std::int64_t i, auto part) { store(out + i, function(load(a + i, part), one), part); }, a);
  } else if (shape.a_step == 0) {
    const Floats one = load_one(a);
    stream(
        shape.columns, [&](std::int64_t i, auto part) { store(out + i, function(one, load(b + i, part)), part); }, b);
  } else {
    const auto body = [&](std::int64_t i, auto part) {
      store(out + i, function(load(a + i, part), load(b + i, part)), part);
    };
    stream(shape.columns, body, a, b);
  }
}

template <class T, class Function>
[[gnu::always_inline]] inline void map(const void* a, const void* b, void* out, const BinaryShape& shape,
                                       const Function& function) {
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    map_row(static_cast<const T*>(a) + row * shape.a_row, static_cast<const T*>(b) + row * shape.b_row,
            static_cast<T*>(out) + row * shape.columns, shape, function);
  }
}

struct Relu {
  // max gives its second operand where one is NaN.
  Floats operator()(const Floats& x) const { return xsimd::max(Floats(0.0F), x); }
};

struct Exp {
  Floats operator()(const Floats& x) const { return exponential(x); }
};

struct Log {
  Floats operator()(const Floats& x) const { return xsimd::log(x); }
};

struct Negative {
  Floats operator()(const Floats& x) const { return -x; }
};

struct Abs {
  Floats operator()(const Floats& x) const { return xsimd::abs(x); }
};

struct Sign {
  Floats operator()(const Floats& x) const {
    const Floats zero(0.0F), one(1.0F);
    return xsimd::select(x > zero, one, xsimd::select(x < zero, -one, x));
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

template <class Function, class T>
[[gnu::flatten]] void unary(const void* x, void* y, std::int64_t count) {
  map<T>(x, y, count, Function{});
}

template <class Function, class T>
[[gnu::flatten]] void binary(const void* a, const void* b, void* out, const BinaryShape& shape) {
  map<T>(a, b, out, shape, Function{});
}

template <class Function>
constexpr PerStorage<ElementwiseFunctions::Unary> unary_of{unary<Function, float>, unary<Function, bfloat16>,
                                                           unary<Function, float16>};

template <class Function>
constexpr PerStorage<ElementwiseFunctions::Binary> binary_of{binary<Function, float>, binary<Function, bfloat16>,
                                                             binary<Function, float16>};

}  // namespace

constexpr ElementwiseFunctions elementwise{unary_of<Relu>,     unary_of<Exp>,          unary_of<Log>,
                                           unary_of<Negative>, unary_of<Abs>,          unary_of<Sign>,
                                           binary_of<Add>,     binary_of<Subtract>,    binary_of<Multiply>,
                                           binary_of<Divide>,  binary_of<ReluGradient>};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
