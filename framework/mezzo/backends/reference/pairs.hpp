#pragma once
#include <cstdint>
#include <type_traits>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/as_seen.hpp>
#include <mezzo/core/visit.hpp>

// Kernels of two operands that broadcast. Functions are given as stateless types, so that a kernel of a dtype compiles
// to one loop.
namespace mezzo::reference {

/// Computes `count` neighbours of output 0. A step is 1, or 0 for an operand that is stretched.
using PairLoop = void (*)(const void* a, std::int64_t a_step, const void* b, std::int64_t b_step, void* out,
                          std::int64_t count);

/// A kernel that calls the loop for the neighbours along the last axis.
std::unique_ptr<Kernel> pair_kernel(const KernelRequest& request, PairLoop loop);

template <class T, class Out, class Function>
void pair_loop(const void* a, std::int64_t a_step, const void* b, std::int64_t b_step, void* out, std::int64_t count) {
  const auto* x = static_cast<const T*>(a);
  const auto* y = static_cast<const T*>(b);
  auto* z = static_cast<Out*>(out);
  if (a_step == 0) {
    const T first = *x;
    for (std::int64_t k = 0; k < count; ++k) z[k] = static_cast<Out>(Function{}(first, y[k]));
  } else if (b_step == 0) {
    const T second = *y;
    for (std::int64_t k = 0; k < count; ++k) z[k] = static_cast<Out>(Function{}(x[k], second));
  } else {
    for (std::int64_t k = 0; k < count; ++k) z[k] = static_cast<Out>(Function{}(x[k], y[k]));
  }
}

/// A kernel: output 0 = function(a, b), broadcast.
template <class T, class Out, class Function>
std::unique_ptr<Kernel> pairs(const KernelRequest& request, Function /*function*/) {
  return pair_kernel(request, pair_loop<T, Out, Function>);
}

/// function(a, b) in double, with denormal numbers as arithmetic sees them.
template <class Function>
struct InDouble {
  template <class T>
  double operator()(T a, T b) const {
    return Function{}(as_seen(static_cast<double>(a)), as_seen(static_cast<double>(b)));
  }
};

/// The same for T of float32 and float64, computed in double and rounded once.
template <class Function>
std::unique_ptr<Kernel> pairs_in_double(const KernelRequest& request, std::string& reason, Function /*function*/) {
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    return pairs<T, T>(request, InDouble<Function>{});
  });
}

/// function(a, b) of bools as uint8.
template <class Function>
struct OfBools {
  bool operator()(bool a, bool b) const {
    return Function{}(static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b)) != 0;
  }
};

/// The same for every dtype except bfloat16 and float16: function(a, b) of the dtype's C++ type. bool is computed as
/// uint8.
template <class Function>
std::unique_ptr<Kernel> pairs_of_numbers(const KernelRequest& request, std::string& reason, Function function) {
  const DType dtype = request.inputs[0].dtype;
  if (is_floating(dtype)) {
    return for_float_or_double(request, dtype, reason, [&](auto zero) {
      using T = decltype(zero);
      return pairs<T, T>(request, function);
    });
  }
  return visit_dtype(dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, bool>) {
      return pairs<T, T>(request, OfBools<Function>{});
    } else if constexpr (std::is_integral_v<T>) {
      return pairs<T, T>(request, function);
    } else {
      return nullptr;
    }
  });
}

}  // namespace mezzo::reference
