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
struct Lines {
  Index count, lines, step;

  explicit Lines(const KernelRequest& request) {
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
    const auto run = [l = Lines(request)](const KernelArguments& arguments) {
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

// y_i = exp(x_i) / sum_j exp(x_j) has dx_i = y_i (g_i - sum_j g_j y_j).
std::unique_ptr<Kernel> create_softmax_gradient(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    const auto run = [l = Lines(request)](const KernelArguments& arguments) {
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
