#include <cstdint>
#include <functional>
#include <type_traits>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/common/walk.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/visit.hpp>

namespace mezzo::reference {
namespace {

/// out = function(a, b), broadcast; elements of type T.
template <class T, class Out, class Function>
std::unique_ptr<Kernel> binary(const KernelRequest& request, Function function) {
  const Shape& shape = request.outputs[0].shape;
  Walk walk(shape, {broadcast_strides(request.inputs[0].shape, shape),  //
                    broadcast_strides(request.inputs[1].shape, shape)});
  const auto run = [walk = std::move(walk), function](const KernelArguments& arguments) {
    parallel_for(walk.size(), grain, [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t a_step = walk.step(0), b_step = walk.step(1);
      walk.pieces(begin, end, [&](std::int64_t i, std::int64_t count, std::int64_t row, std::int64_t column) {
        const T* a = arguments.in<T>(0) + walk.offset(0, row) + column * a_step;
        const T* b = arguments.in<T>(1) + walk.offset(1, row) + column * b_step;
        Out* out = arguments.out<Out>(0) + i;
        for (std::int64_t k = 0; k < count; ++k) out[k] = function(a[k * a_step], b[k * b_step]);
      });
    });
  };
  return make_kernel(run, std::is_same_v<T, Out> ? like_output(request) : std::vector<bool>{});
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
    using Compared = std::conditional_t<std::is_class_v<T>, float, T>;
    return binary<T, bool>(request, [](T a, T b) { return static_cast<Compared>(a) == static_cast<Compared>(b); });
  });
}

}  // namespace mezzo::reference
