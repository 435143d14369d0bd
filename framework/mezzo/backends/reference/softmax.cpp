#include <algorithm>
#include <cmath>
#include <cstdint>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/lines.hpp>

namespace mezzo::reference {
namespace {

using Index = std::int64_t;

Lines lines_of(const KernelRequest& request) {
  return {request.inputs[0].shape, request.attributes.get<Index>("axis")};
}

/// A kernel: result_of(sum of exp(x_i - maximum))(x_i - maximum) for the elements x_i of each line. Reads each element
/// before its place is written, so outputs may use the memory of inputs.
template <class ResultOf>
std::unique_ptr<Kernel> exponential_kernel(const KernelRequest& request, std::string& reason, ResultOf result_of) {
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    const auto run = [l = lines_of(request), result_of](const KernelArguments& arguments) {
      l.for_each([&](Index, Index start) {
        const T* x = arguments.in<T>(0) + start;
        T* y = arguments.out<T>(0) + start;
        const auto at = [&](Index i) { return static_cast<double>(x[i * l.inner]); };
        double maximum = at(0), total = 0;
        for (Index i = 1; i < l.count; ++i) maximum = std::max(maximum, at(i));
        for (Index i = 0; i < l.count; ++i) total += std::exp(at(i) - maximum);
        const auto result = result_of(total);
        for (Index i = 0; i < l.count; ++i) y[i * l.inner] = static_cast<T>(result(at(i) - maximum));
      });
    };
    return make_kernel(run, like_output(request));
  });
}

}  // namespace

std::unique_ptr<Kernel> create_softmax(const KernelRequest& request, std::string& reason) {
  return exponential_kernel(request, reason,
                            [](double total) { return [total](double x) { return std::exp(x) / total; }; });
}

std::unique_ptr<Kernel> create_log_softmax(const KernelRequest& request, std::string& reason) {
  return exponential_kernel(request, reason,
                            [](double total) { return [scale = std::log(total)](double x) { return x - scale; }; });
}

// The threshold t of the k largest elements is (their sum - 1) / k, for the largest k whose least element is above it.
std::unique_ptr<Kernel> create_sparsemax(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    const Lines l = lines_of(request);
    const auto run = [l](const KernelArguments& arguments) {
      l.for_each([&](Index line, Index start) {
        const T* x = arguments.in<T>(0) + start;
        T* y = arguments.out<T>(0) + start;
        auto* sorted = static_cast<double*>(arguments.scratch) + line * l.count;
        for (Index i = 0; i < l.count; ++i) sorted[i] = static_cast<double>(x[i * l.inner]);
        std::sort(sorted, sorted + l.count, [](double a, double b) { return a > b; });
        double sum = 0, threshold = 0;
        for (Index k = 1; k <= l.count; ++k) {
          sum += sorted[k - 1];
          if (sorted[k - 1] - (sum - 1) / static_cast<double>(k) > 0) threshold = (sum - 1) / static_cast<double>(k);
        }
        for (Index i = 0; i < l.count; ++i) {
          const double rest = static_cast<double>(x[i * l.inner]) - threshold;
          y[i * l.inner] = static_cast<T>(rest < 0 ? 0 : rest);
        }
      });
    };
    const auto bytes = static_cast<std::size_t>(l.lines() * l.count) * sizeof(double);
    return make_kernel(run, like_output(request), bytes);
  });
}

// y_i = exp(x_i) / sum_j exp(x_j) has dx_i = y_i (g_i - sum_j g_j y_j).
std::unique_ptr<Kernel> create_softmax_gradient(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    const auto run = [l = lines_of(request)](const KernelArguments& arguments) {
      l.for_each([&](Index, Index start) {
        const T* y = arguments.in<T>(0) + start;
        const T* g = arguments.in<T>(1) + start;
        T* dx = arguments.out<T>(0) + start;
        double sum = 0;
        for (Index i = 0; i < l.count; ++i) {
          sum += static_cast<double>(g[i * l.inner]) * static_cast<double>(y[i * l.inner]);
        }
        for (Index i = 0; i < l.count; ++i) {
          const Index at = i * l.inner;
          dx[at] = static_cast<T>(static_cast<double>(y[at]) * (static_cast<double>(g[at]) - sum));
        }
      });
    };
    return make_kernel(run, like_output(request));
  });
}

}  // namespace mezzo::reference
