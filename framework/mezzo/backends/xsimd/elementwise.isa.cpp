#include <mezzo/backends/xsimd/elementwise.hpp>
#include <mezzo/backends/xsimd/elementwise_functions.hpp>
#include <mezzo/backends/xsimd/grouped.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// stream(), with groups if the function takes these for its operands.
template <class Function, class... Groups, class Body, class... Arrays>
[[gnu::always_inline]] inline void stream_for(std::int64_t n, const Body& body, const Arrays*... arrays) {
  if constexpr (takes_groups<Function, Groups...>) {
    stream_groups(n, body, arrays...);
  } else {
    stream(n, body, arrays...);
  }
}

template <class T, class Function>
[[gnu::always_inline]] inline void map(const void* x, void* y, std::int64_t count, const Function& function) {
  const T* const from = static_cast<const T*>(x);
  T* const to = static_cast<T*>(y);
  stream_for<Function, Grouped>(
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
    stream_for<Function, Grouped, Grouped>(shape.columns, body, a, b);
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

// The kernel of an elementwise op is a function object of elementwise_functions.hpp with a row in one of these tables.

template <class Function, class T>
[[gnu::flatten]] void unary(const void* x, void* y, std::int64_t count) {
  map<T>(x, y, count, Function{});
}

template <class Function, class T>
[[gnu::flatten]] void binary(const void* a, const void* b, void* out, const BinaryShape& shape) {
  map<T>(a, b, out, shape, Function{});
}

template <class Function>
constexpr PerStorage<ElementwiseFunctions::Unary> unary_of{
    .float32 = unary<Function, float>, .bfloat16 = unary<Function, bfloat16>, .float16 = unary<Function, float16>};

template <class Function>
constexpr PerStorage<ElementwiseFunctions::Binary> binary_of{
    .float32 = binary<Function, float>, .bfloat16 = binary<Function, bfloat16>, .float16 = binary<Function, float16>};

/// With a function for each type of the results.
template <template <class> class Function>
constexpr PerStorage<ElementwiseFunctions::Unary> unary_of_each{.float32 = unary<Function<float>, float>,
                                                                .bfloat16 = unary<Function<bfloat16>, bfloat16>,
                                                                .float16 = unary<Function<float16>, float16>};

template <template <class> class Function>
constexpr PerStorage<ElementwiseFunctions::Binary> binary_of_each{.float32 = binary<Function<float>, float>,
                                                                  .bfloat16 = binary<Function<bfloat16>, bfloat16>,
                                                                  .float16 = binary<Function<float16>, float16>};

// New rows come last: the order of the functions affects GCC's decisions to inline the function objects.
constexpr ElementwiseRow<ElementwiseFunctions::Unary> unary_rows[] = {
    {.op = "relu", .functions = unary_of<Relu>},
    {.op = "exp", .functions = unary_of_each<Exp>},
    {.op = "log", .functions = unary_of<Log>},
    {.op = "negative", .functions = unary_of<Negative>},
    {.op = "abs", .functions = unary_of<Abs>},
    {.op = "sign", .functions = unary_of<Sign>},
    {.op = "tanh", .functions = unary_of_each<Tanh>},
    {.op = "sigmoid", .functions = unary_of_each<Sigmoid>},
    {.op = "gelu", .functions = unary_of_each<Gelu>},
    {.op = "gelu", .functions = unary_of_each<ApproximateGelu>, .approximate = true},
    {.op = "softplus", .functions = unary_of<Softplus>},
    {.op = "relu", .functions = unary_of<Relu6>, .max_value = 6},
    {.op = "silu", .functions = unary_of_each<Silu>},
};

constexpr ElementwiseRow<ElementwiseFunctions::Binary> binary_rows[] = {
    {.op = "add", .functions = binary_of<Add>},
    {.op = "subtract", .functions = binary_of<Subtract>},
    {.op = "multiply", .functions = binary_of<Multiply>},
    {.op = "divide", .functions = binary_of<Divide>},
    {.op = "relu_gradient", .functions = binary_of<ReluGradient>},
    {.op = "tanh_gradient", .functions = binary_of<TanhGradient>},
    {.op = "sigmoid_gradient", .functions = binary_of<SigmoidGradient>},
    {.op = "gelu_gradient", .functions = binary_of_each<GeluGradient>},
    {.op = "gelu_gradient", .functions = binary_of_each<ApproximateGeluGradient>, .approximate = true},
    {.op = "silu_gradient", .functions = binary_of_each<SiluGradient>},
    {.op = "relu_gradient", .functions = binary_of<Relu6Gradient>, .max_value = 6},
};

}  // namespace

constexpr ElementwiseFunctions elementwise{.unary = unary_rows, .binary = binary_rows};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
