#include <algorithm>
#include <cmath>
#include <cstdint>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/parallel.hpp>

namespace mezzo::reference {
namespace {

using Index = std::int64_t;

/// Lines of an array along an axis: `lines` of them, each of `count` elements that lie `step` apart.
struct AxisLines {
  Index count, lines, step;

  explicit AxisLines(const KernelRequest& request) {
    const Shape& shape = request.inputs[0].shape;
    const auto axis = static_cast<std::size_t>(request.attributes.get<Index>("axis"));
    count = shape[axis];
    lines = count == 0 ? 0 : element_count(shape) / count;
    step = row_major_strides(shape)[axis];
  }

  /// Calls body(offset of the first element) for each line.
  template <class Body>
  void for_each(const Body& body) const {
    parallel_for(lines, grain_of(count), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) body(i / step * count * step + i % step);
    });
  }
};

}  // namespace

// Reads each element before its place is written, so outputs may lie on inputs.
std::unique_ptr<Kernel> create_softmax(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    const auto run = [l = AxisLines(request)](const KernelArguments& arguments) {
      l.for_each([&](Index start) {
        const T* x = arguments.in<T>(0) + start;
        T* y = arguments.out<T>(0) + start;
        const auto at = [&](Index i) { return static_cast<double>(x[i * l.step]); };
        double maximum = at(0), total = 0;
        for (Index i = 1; i < l.count; ++i) maximum = std::max(maximum, at(i));
        for (Index i = 0; i < l.count; ++i) total += std::exp(at(i) - maximum);
        for (Index i = 0; i < l.count; ++i) y[i * l.step] = static_cast<T>(std::exp(at(i) - maximum) / total);
      });
    };
    return make_kernel(run, like_output(request));
  });
}

std::unique_ptr<Kernel> create_log_softmax(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    const auto run = [l = AxisLines(request)](const KernelArguments& arguments) {
      l.for_each([&](Index start) {
        const T* x = arguments.in<T>(0) + start;
        T* y = arguments.out<T>(0) + start;
        const auto at = [&](Index i) { return static_cast<double>(x[i * l.step]); };
        double maximum = at(0), total = 0;
        for (Index i = 1; i < l.count; ++i) maximum = std::max(maximum, at(i));
        for (Index i = 0; i < l.count; ++i) total += std::exp(at(i) - maximum);
        const double scale = std::log(total);
        for (Index i = 0; i < l.count; ++i) y[i * l.step] = static_cast<T>(at(i) - maximum - scale);
      });
    };
    return make_kernel(run, like_output(request));
  });
}

// The threshold t of the k largest elements is (their sum - 1) / k, for the largest k whose least element is above it.
std::unique_ptr<Kernel> create_sparsemax(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    const AxisLines l(request);
    const auto run = [l](const KernelArguments& arguments) {
      l.for_each([&](Index start) {
        const T* x = arguments.in<T>(0) + start;
        T* y = arguments.out<T>(0) + start;
        auto* sorted =
            static_cast<double*>(arguments.scratch) + (start / (l.count * l.step) * l.step + start % l.step) * l.count;
        for (Index i = 0; i < l.count; ++i) sorted[i] = static_cast<double>(x[i * l.step]);
        std::sort(sorted, sorted + l.count, [](double a, double b) { return a > b; });
        double sum = 0, threshold = 0;
        for (Index k = 1; k <= l.count; ++k) {
          sum += sorted[k - 1];
          if (sorted[k - 1] - (sum - 1) / static_cast<double>(k) > 0) threshold = (sum - 1) / static_cast<double>(k);
        }
        for (Index i = 0; i < l.count; ++i) {
          const double rest = static_cast<double>(x[i * l.step]) - threshold;
          y[i * l.step] = static_cast<T>(rest < 0 ? 0 : rest);
        }
      });
    };
    const auto bytes = static_cast<std::size_t>(l.lines * l.count) * sizeof(double);
    return make_kernel(run, like_output(request), bytes);
  });
}

// y_i = exp(x_i) / sum_j exp(x_j) has dx_i = y_i (g_i - sum_j g_j y_j).
std::unique_ptr<Kernel> create_softmax_gradient(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    const auto run = [l = AxisLines(request)](const KernelArguments& arguments) {
      l.for_each([&](Index start) {
        const T* y = arguments.in<T>(0) + start;
        const T* g = arguments.in<T>(1) + start;
        T* dx = arguments.out<T>(0) + start;
        double sum = 0;
        for (Index i = 0; i < l.count; ++i) {
          sum += static_cast<double>(g[i * l.step]) * static_cast<double>(y[i * l.step]);
        }
        for (Index i = 0; i < l.count; ++i) {
          const Index at = i * l.step;
          dx[at] = static_cast<T>(static_cast<double>(y[at]) * (static_cast<double>(g[at]) - sum));
        }
      });
    };
    return make_kernel(run, like_output(request));
  });
}

}  // namespace mezzo::reference
