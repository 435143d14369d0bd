#pragma once
#include <cstdint>
#include <string>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/as_seen.hpp>

namespace mezzo::reference {

/// A kernel: output 0 = function(element i of each of the `operands` inputs), where inputs and output have one shape,
/// and float32 or float64 elements. The output may use the memory of an input.
template <std::size_t operands, class Function>
std::unique_ptr<Kernel> elementwise(const KernelRequest& request, std::string& reason, Function function) {
  static_assert(operands == 1 || operands == 2);
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    return make_elementwise_kernel(request,
                                   [function](const KernelArguments& arguments, std::int64_t begin, std::int64_t end) {
                                     const T* x = arguments.in<T>(0);
                                     T* out = arguments.out<T>(0);
                                     if constexpr (operands == 1) {
                                       for (std::int64_t i = begin; i < end; ++i)
                                         out[i] = static_cast<T>(function(x[i]));
                                     } else {
                                       const T* y = arguments.in<T>(1);
                                       for (std::int64_t i = begin; i < end; ++i)
                                         out[i] = static_cast<T>(function(x[i], y[i]));
                                     }
                                   });
  });
}

/// Output 0 = function(element i of each input as double), rounded once.
template <std::size_t operands, class Function>
std::unique_ptr<Kernel> in_double(const KernelRequest& request, std::string& reason, Function function) {
  return elementwise<operands>(
      request, reason, [function](auto... elements) { return function(as_seen(static_cast<double>(elements))...); });
}

}  // namespace mezzo::reference
