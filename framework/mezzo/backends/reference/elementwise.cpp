#include <cmath>
#include <cstdint>
#include <limits>

#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/elements.hpp>
#include <mezzo/core/visit.hpp>

namespace mezzo::reference {
namespace {

/// A kernel of bools or integers: output 0 = function(element i), in int64, whose overflow wraps around.
std::unique_ptr<Kernel> of_integers(const KernelRequest& request, std::int64_t (*function)(std::int64_t)) {
  return visit_dtype(request.inputs[0].dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
    using T = decltype(zero);
    if constexpr (!std::is_integral_v<T>) {
      return nullptr;
    } else {
      return make_elementwise_kernel(
          request, [function](const KernelArguments& arguments, std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i) {
              arguments.out<T>(0)[i] = static_cast<T>(function(static_cast<std::int64_t>(arguments.in<T>(0)[i])));
            }
          });
    }
  });
}

bool is_integral(const KernelRequest& request) { return !is_floating(request.inputs[0].dtype); }

/// Upper limit of relu; NaN for no limit, since every comparison with NaN is false.
double max_value(const KernelRequest& request) {
  return request.attributes.get_or("max_value", std::numeric_limits<double>::quiet_NaN());
}

/// -x; unsigned, so that the result for the least number is defined.
std::int64_t minus(std::int64_t x) { return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(x)); }

}  // namespace

std::unique_ptr<Kernel> create_relu(const KernelRequest& request, std::string& reason) {
  // A NaN stays a NaN, and -0 becomes 0: std::max does neither.
  return elementwise<1>(request, reason, [most = max_value(request)](auto x) {
    using T = decltype(x);
    return x <= 0 ? T{0} : x > most ? static_cast<T>(most) : x;
  });
}

std::unique_ptr<Kernel> create_exp(const KernelRequest& request, std::string& reason) {
  return elementwise<1>(request, reason, [](auto x) { return std::exp(x); });
}

std::unique_ptr<Kernel> create_log(const KernelRequest& request, std::string& reason) {
  return elementwise<1>(request, reason, [](auto x) { return std::log(as_seen(x)); });
}

std::unique_ptr<Kernel> create_negative(const KernelRequest& request, std::string& reason) {
  if (is_integral(request)) return of_integers(request, minus);
  return elementwise<1>(request, reason, [](auto x) { return -x; });
}

std::unique_ptr<Kernel> create_abs(const KernelRequest& request, std::string& reason) {
  if (is_integral(request)) return of_integers(request, [](std::int64_t x) { return x < 0 ? minus(x) : x; });
  return elementwise<1>(request, reason, [](auto x) { return std::abs(x); });
}

std::unique_ptr<Kernel> create_sign(const KernelRequest& request, std::string& reason) {
  if (is_integral(request)) {
    return of_integers(request, [](std::int64_t x) -> std::int64_t { return x > 0 ? 1 : x < 0 ? -1 : 0; });
  }
  // A NaN stays a NaN, and zeros keep their sign.
  return elementwise<1>(request, reason, [](auto x) {
    if (x != x) return x;
    return std::copysign(static_cast<decltype(x)>(x == 0 ? 0 : 1), x);
  });
}

std::unique_ptr<Kernel> create_relu_gradient(const KernelRequest& request, std::string& reason) {
  return elementwise<2>(request, reason,
                        [most = max_value(request)](auto y, auto g) { return y > 0 && !(y >= most) ? g : 0; });
}

std::unique_ptr<Kernel> create_relu_bias_gradient(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    const std::int64_t columns = request.inputs[0].shape.back();
    const auto run = [columns, size = element_count(request.inputs[0].shape)](const KernelArguments& arguments) {
      const T* y = arguments.in<T>(0);
      const T* g = arguments.in<T>(1);
      T* out = arguments.out<T>(0);
      for (std::int64_t c = 0; c < columns; ++c) {
        double sum = 0;
        for (std::int64_t i = c; i < size; i += columns) {
          out[i] = y[i] > 0 ? g[i] : 0;
          sum += static_cast<double>(out[i]);
        }
        arguments.out<T>(1)[c] = static_cast<T>(sum);
      }
    };
    return make_kernel(run, {true, true});
  });
}

}  // namespace mezzo::reference
