#include <cmath>
#include <numbers>

#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/elements.hpp>

// Activations and their gradients, in double for every dtype.
namespace mezzo::reference {
namespace {

/// 1 / (1 + exp(-x)), without overflow.
double logistic(double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }

/// Standard normal cumulative distribution function.
double cumulative(double x) { return 0.5 * std::erfc(-x * std::sqrt(0.5)); }

// gelu(x) = x s(x). Exactly, s = cumulative; approximately, s(x) = logistic(2 sqrt(2 / pi) (x + 0.044715 x^3))
// (Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016).
constexpr double cubic = 0.044715;

/// The argument of the approximation's logistic function, and its derivative.
double inner(double x) { return 2 * std::sqrt(2 / std::numbers::pi) * (x + cubic * x * x * x); }
double inner_slope(double x) { return 2 * std::sqrt(2 / std::numbers::pi) * (1 + 3 * cubic * x * x); }

/// x limited to [-40, 40]. Outside, s is 0 or 1 to the last bit, and products could be infinity times 0.
double bounded(double x) { return x > 40 ? 40 : x < -40 ? -40 : x; }

}  // namespace

std::unique_ptr<Kernel> create_tanh(const KernelRequest& request, std::string& reason) {
  return in_double<1>(request, reason, [](double x) { return std::tanh(x); });
}

std::unique_ptr<Kernel> create_tanh_gradient(const KernelRequest& request, std::string& reason) {
  return in_double<2>(request, reason, [](double y, double g) { return g * ((1 - y) * (1 + y)); });
}

std::unique_ptr<Kernel> create_sigmoid(const KernelRequest& request, std::string& reason) {
  return in_double<1>(request, reason, logistic);
}

std::unique_ptr<Kernel> create_sigmoid_gradient(const KernelRequest& request, std::string& reason) {
  return in_double<2>(request, reason, [](double y, double g) { return g * (y * (1 - y)); });
}

std::unique_ptr<Kernel> create_softplus(const KernelRequest& request, std::string& reason) {
  return in_double<1>(request, reason,
                      [](double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); });
}

std::unique_ptr<Kernel> create_silu(const KernelRequest& request, std::string& reason) {
  return in_double<1>(request, reason, [](double x) {
    const double least = x < -800 ? -800 : x;  // exp(-800) is 0
    return least * logistic(least);
  });
}

std::unique_ptr<Kernel> create_silu_gradient(const KernelRequest& request, std::string& reason) {
  return in_double<2>(request, reason, [](double x, double g) {
    x = x > 800 ? 800 : x < -800 ? -800 : x;
    return g * logistic(x) * (1 + x * logistic(-x));
  });
}

std::unique_ptr<Kernel> create_gelu(const KernelRequest& request, std::string& reason) {
  const bool approximate = request.attributes.get<bool>("approximate");
  return in_double<1>(request, reason, [approximate](double x) {
    const double least = x < -40 ? -40 : x;
    return least * (approximate ? logistic(inner(least)) : cumulative(least));
  });
}

std::unique_ptr<Kernel> create_gelu_gradient(const KernelRequest& request, std::string& reason) {
  const bool approximate = request.attributes.get<bool>("approximate");
  return in_double<2>(request, reason, [approximate](double x, double g) {
    x = bounded(x);
    if (!approximate) return g * (cumulative(x) + x * std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi));
    const double u = inner(x);
    return g * (logistic(u) + x * logistic(u) * logistic(-u) * inner_slope(x));
  });
}

}  // namespace mezzo::reference
