#pragma once
#include <cstdint>
#include <type_traits>
#include <utility>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/common/walk.hpp>
#include <mezzo/backends/reference/as_seen.hpp>
#include <mezzo/core/visit.hpp>

namespace mezzo::reference {

/// A kernel of two operands that broadcast. piece(a, a_step, b, b_step, out, count) computes `count` neighbours of
/// output 0; a step is 1, or 0 for an operand that is stretched.
template <class T, class Out, class Piece>
std::unique_ptr<Kernel> pieces_of_pairs(const KernelRequest& request, Piece piece) {
  const Shape& shape = request.outputs[0].shape;
  Walk walk(shape, {broadcast_strides(request.inputs[0].shape, shape),  //
                    broadcast_strides(request.inputs[1].shape, shape)});
  const auto run = [walk = std::move(walk), piece](const KernelArguments& arguments) {
    parallel_for(walk.size(), grain, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t a_step = walk.step(0), b_step = walk.step(1);
      walk.pieces(begin, end, [&](std::int64_t i, std::int64_t count, std::int64_t line, std::int64_t column) {
        piece(arguments.in<T>(0) + walk.offset(0, line) + column * a_step, a_step,
              arguments.in<T>(1) + walk.offset(1, line) + column * b_step, b_step, arguments.out<Out>(0) + i, count);
      });
    });
  };
  return make_kernel(run, std::is_same_v<T, Out> ? like_output(request) : std::vector<bool>{});
}

/// A kernel: output 0 = function(a, b), broadcast. Plain loops, which compile faster than expressions of xtensor in all
/// dtypes.
template <class T, class Out, class Function>
std::unique_ptr<Kernel> pairs(const KernelRequest& request, Function function) {
  return pieces_of_pairs<T, Out>(request, [function](const T* a, std::int64_t a_step, const T* b, std::int64_t b_step,
                                                     Out* out, std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) out[k] = static_cast<Out>(function(a[k * a_step], b[k * b_step]));
  });
}

/// The same for T of float32 and float64, computed in double and rounded once.
template <class Function>
std::unique_ptr<Kernel> pairs_in_double(const KernelRequest& request, std::string& reason, Function function) {
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    return pairs<T, T>(request, [function](T a, T b) {
      return function(as_seen(static_cast<double>(a)), as_seen(static_cast<double>(b)));
    });
  });
}

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
      return pairs<T, T>(request, [function](bool a, bool b) {
        return function(static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b)) != 0;
      });
    } else if constexpr (std::is_integral_v<T>) {
      return pairs<T, T>(request, function);
    } else {
      return nullptr;
    }
  });
}

}  // namespace mezzo::reference
