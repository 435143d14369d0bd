#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include <xtensor/xadapt.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/as_seen.hpp>
#include <mezzo/core/parallel.hpp>

namespace mezzo::reference {

/// `count` neighbours from `data` on, as an xtensor of rank 1 that shares their memory. The rank is static, so that
/// neither the row nor an expression of rows allocates; expressions of such rows compile to plain loops.
template <class T>
auto row(T* data, std::int64_t count) {
  const auto size = static_cast<std::size_t>(count);
  return xt::adapt(std::move(data), size, xt::no_ownership(), std::array<std::size_t, 1>{size});
}

/// `count` elements that lie `step` apart. Read through steppers, at about a quarter of the speed in the cache.
template <class T>
auto row(T* data, std::int64_t count, std::int64_t step) {
  const auto size = static_cast<std::size_t>(count);
  return xt::adapt(std::move(data), size, xt::no_ownership(), std::array<std::size_t, 1>{size},
                   std::array<std::ptrdiff_t, 1>{step});
}

/// The expression function(element i of each row).
template <class Function, class... Rows>
auto map(Function function, const Rows&... rows) {
  return xt::make_lambda_xfunction(std::move(function), rows...);
}

/// A kernel: output 0 = function(a row of each of the `operands` inputs), where inputs and output have one shape, and
/// float32 or float64 elements. The output may use the memory of an input.
template <std::size_t operands, class Function>
std::unique_ptr<Kernel> elementwise(const KernelRequest& request, std::string& reason, Function function) {
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    const auto run = [function, size = element_count(request.outputs[0].shape)](const KernelArguments& arguments) {
      parallel_for(size, grain, [&](std::int64_t begin, std::int64_t end) {
        const auto operand = [&](std::size_t i) { return row(arguments.in<T>(i) + begin, end - begin); };
        auto out = row(arguments.out<T>(0) + begin, end - begin);
        if constexpr (operands == 1) {
          xt::noalias(out) = function(operand(0));
        } else {
          xt::noalias(out) = function(operand(0), operand(1));
        }
      });
    };
    return make_kernel(run, like_output(request));
  });
}

/// Output 0 = function(element i of each input as double), rounded once.
template <std::size_t operands, class Function>
std::unique_ptr<Kernel> in_double(const KernelRequest& request, std::string& reason, Function function) {
  return elementwise<operands>(request, reason, [function](const auto&... rows) {
    return map([function](auto... elements) { return function(as_seen(static_cast<double>(elements))...); }, rows...);
  });
}

}  // namespace mezzo::reference
