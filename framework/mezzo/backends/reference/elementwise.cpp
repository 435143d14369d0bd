#include <cmath>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/parallel.hpp>

namespace mezzo::reference {
namespace {

/// out[i] = function(x[i]).
template <class Function>
std::unique_ptr<Kernel> unary(const KernelRequest& request, std::string& reason, Function function) {
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    const auto run = [function, size = element_count(request.outputs[0].shape)](const KernelArguments& arguments) {
      const T* x = arguments.in<T>(0);
      T* out = arguments.out<T>(0);
      parallel_for(size, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) out[i] = function(x[i]);
      });
    };
    return make_kernel(run, like_output(request));
  });
}

}  // namespace

std::unique_ptr<Kernel> create_relu(const KernelRequest& request, std::string& reason) {
  return unary(request, reason, [](auto x) { return x <= 0 ? 0 : x; });  // NaN stays
}

std::unique_ptr<Kernel> create_exp(const KernelRequest& request, std::string& reason) {
  return unary(request, reason, [](auto x) { return std::exp(x); });
}

std::unique_ptr<Kernel> create_log(const KernelRequest& request, std::string& reason) {
  return unary(request, reason, [](auto x) { return std::log(x); });
}

std::unique_ptr<Kernel> create_negative(const KernelRequest& request, std::string& reason) {
  return unary(request, reason, [](auto x) { return -x; });
}

std::unique_ptr<Kernel> create_abs(const KernelRequest& request, std::string& reason) {
  return unary(request, reason, [](auto x) { return std::abs(x); });
}

std::unique_ptr<Kernel> create_sign(const KernelRequest& request, std::string& reason) {
  return unary(request, reason, [](auto x) { return x > 0 ? 1 : x < 0 ? -1 : x; });  // NaN stays
}

std::unique_ptr<Kernel> create_relu_gradient(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    const auto run = [size = element_count(request.outputs[0].shape)](const KernelArguments& arguments) {
      const T* y = arguments.in<T>(0);
      const T* g = arguments.in<T>(1);
      T* out = arguments.out<T>(0);
      parallel_for(size, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) out[i] = y[i] > 0 ? g[i] : 0;
      });
    };
    return make_kernel(run, like_output(request));
  });
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
