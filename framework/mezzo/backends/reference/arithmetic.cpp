#include <cstdint>
#include <functional>
#include <type_traits>

#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/pairs.hpp>
#include <mezzo/core/visit.hpp>

namespace mezzo::reference {
namespace {

/// Integers wrap around, as numpy's do: computed unsigned, where that is defined. In bool, + is or, * is and.
template <class Function>
struct Wrapped {
  template <class T>
  T operator()(T a, T b) const {
    using Wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
    return static_cast<T>(Function{}(static_cast<Wide>(a), static_cast<Wide>(b)));
  }
};

template <class Function>
std::unique_ptr<Kernel> number_kernel(const KernelRequest& request, std::string& reason, Function /*function*/) {
  const DType dtype = request.inputs[0].dtype;
  if (is_half(dtype)) return for_float_or_double(request, dtype, reason, [](auto) { return nullptr; });
  return visit_dtype(dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
    using T = decltype(zero);
    if constexpr (std::is_class_v<T>) {
      return nullptr;
    } else {
      return pairs<T, T>(request, Wrapped<Function>{});
    }
  });
}

}  // namespace

std::unique_ptr<Kernel> create_add(const KernelRequest& request, std::string& reason) {
  return number_kernel(request, reason, std::plus<>());
}

std::unique_ptr<Kernel> create_subtract(const KernelRequest& request, std::string& reason) {
  return number_kernel(request, reason, std::minus<>());
}

std::unique_ptr<Kernel> create_multiply(const KernelRequest& request, std::string& reason) {
  return number_kernel(request, reason, std::multiplies<>());
}

std::unique_ptr<Kernel> create_divide(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    return pairs<T, T>(request, std::divides<>());
  });
}

}  // namespace mezzo::reference
