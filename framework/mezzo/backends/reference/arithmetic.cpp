#include <cstdint>
#include <functional>
#include <type_traits>

#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/pairs.hpp>
#include <mezzo/backends/reference/rows.hpp>
#include <mezzo/core/visit.hpp>

// xtensor forms the promoted type of every expression's elements; 16-bit floats have no arithmetic.
template <>
struct xtl::promote_type<mezzo::bfloat16, mezzo::bfloat16> {
  using type = float;
};
template <>
struct xtl::promote_type<mezzo::float16, mezzo::float16> {
  using type = float;
};

namespace mezzo::reference {
namespace {

/// A kernel: output 0 = function(a, b), broadcast.
template <class T, class Out, class Function>
std::unique_ptr<Kernel> binary(const KernelRequest& request, Function function) {
  return pieces_of_pairs<T, Out>(request, [function](const T* a, std::int64_t a_step, const T* b, std::int64_t b_step,
                                                     Out* out, std::int64_t count) {
    auto result = row(out, count);
    if (a_step == 0) {
      xt::noalias(result) = map(function, *a, row(b, count));
    } else if (b_step == 0) {
      xt::noalias(result) = map(function, row(a, count), *b);
    } else {
      xt::noalias(result) = map(function, row(a, count), row(b, count));
    }
  });
}

/// Integers wrap around, as numpy's do: computed unsigned, where that is defined. In bool, + is or, * is and.
template <class Function>
std::unique_ptr<Kernel> number_kernel(const KernelRequest& request, std::string& reason, Function function) {
  const DType dtype = request.inputs[0].dtype;
  if (is_half(dtype)) return for_float_or_double(request, dtype, reason, [](auto) { return nullptr; });
  return visit_dtype(dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
    using T = decltype(zero);
    if constexpr (std::is_class_v<T>) {
      return nullptr;
    } else {
      using Wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
      return binary<T, T>(request, [function](T a, T b) {
        return static_cast<T>(function(static_cast<Wide>(a), static_cast<Wide>(b)));
      });
    }
  });
}

template <class T>
bool same(T a, T b) {
  if constexpr (std::is_class_v<T>) {
    return static_cast<float>(a) == static_cast<float>(b);
  } else {
    return a == b;
  }
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
    return binary<T, T>(request, std::divides<T>());
  });
}

std::unique_ptr<Kernel> create_equal(const KernelRequest& request, std::string&) {
  return visit_dtype(request.inputs[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    return binary<T, bool>(request, [](T a, T b) { return same(a, b); });
  });
}

}  // namespace mezzo::reference
