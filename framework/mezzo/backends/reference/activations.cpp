#include <cmath>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/parallel.hpp>

// Computed in double, whatever the dtype.
namespace mezzo::reference {
namespace {

constexpr double pi = 3.14159265358979323846;

/// out[i] = function(element i of each input).
template <class Function>
std::unique_ptr<Kernel> elementwise(const KernelRequest& request, std::string& reason, Function function) {
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    const bool two = request.inputs.size() > 1;
    const auto run = [function, two, size = element_count(request.outputs[0].shape)](const KernelArguments& arguments) {
      const T* a = arguments.in<T>(0);
      const T* b = arguments.in<T>(two ? 1 : 0);
      T* out = arguments.out<T>(0);
      parallel_for(size, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          out[i] = static_cast<T>(function(static_cast<double>(a[i]), static_cast<double>(b[i])));
        }
      });
    };
    return make_kernel(run, like_output(request));
  });
}

double logistic(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }

/// The probability of a normal variable to lie below x.
double cumulative(double x) { return 0.5 * std::erfc(-x * std::sqrt(0.5)); }

/// gelu(x) = x s, where s is the probability or, approximately, logistic(2 sqrt(2 / pi) (x + 0.044715 x^3)).
constexpr double cubic = 0.044715;
double inner(double x) { return 2 * std::sqrt(2 / pi) * (x + cubic * x * x * x); }
double inner_slope(double x) { return 2 * std::sqrt(2 / pi) * (1 + 3 * cubic * x * x); }

/// Where s is 0 or 1 to the last bit; beyond, products with it could be infinity times 0.
double bounded(double x) { return x > 40 ? 40 : x < -40 ? -40 : x; }

}  // namespace

std::unique_ptr<Kernel> create_tanh(const KernelRequest& request, std::string& reason) {
  return elementwise(request, reason, [](double x, double) { return std::tanh(x); });
}

std::unique_ptr<Kernel> create_tanh_gradient(const KernelRequest& request, std::string& reason) {
  return elementwise(request, reason, [](double y, double g) { return g * ((1 - y) * (1 + y)); });
}

std::unique_ptr<Kernel> create_sigmoid(const KernelRequest& request, std::string& reason) {
  return elementwise(request, reason, [](double x, double) { return logistic(x); });
}

std::unique_ptr<Kernel> create_sigmoid_gradient(const KernelRequest& request, std::string& reason) {
  return elementwise(request, reason, [](double y, double g) { return g * (y * (1 - y)); });
}

std::unique_ptr<Kernel> create_gelu(const KernelRequest& request, std::string& reason) {
  const bool approximate = request.attributes.get<bool>("approximate");
  return elementwise(request, reason, [approximate](double x, double) {
    const double least = x < -40 ? -40 : x;
    return least * (approximate ? logistic(inner(least)) : cumulative(least));
  });
}

std::unique_ptr<Kernel> create_gelu_gradient(const KernelRequest& request, std::string& reason) {
  const bool approximate = request.attributes.get<bool>("approximate");
  return elementwise(request, reason, [approximate](double x, double g) {
    x = bounded(x);
    if (!approximate) return g * (cumulative(x) + x * std::exp(-x * x / 2) / std::sqrt(2 * pi));
    const double u = inner(x);
    return g * (logistic(u) + x * logistic(u) * logistic(-u) * inner_slope(x));
  });
}

}  // namespace mezzo::reference
