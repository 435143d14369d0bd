#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/lines.hpp>
#include <mezzo/core/visit.hpp>

// Kernels that combine the elements of each line one after another.
namespace mezzo::reference {
namespace {

using Index = std::int64_t;

constexpr Index scan_lanes = 256;  // lines that are computed side by side

/// Calls body(offset of the first element, number of neighbouring lines) for all lines, at most `scan_lanes` at a time.
template <class Body>
void for_lines(const Lines& l, const Body& body) {
  const Index groups = (l.inner + scan_lanes - 1) / scan_lanes;
  parallel_for(l.outer * groups, grain_of(l.count * std::min(l.inner, scan_lanes)), [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index first = i % groups * scan_lanes;
      body(i / groups * l.count * l.inner + first, std::min(scan_lanes, l.inner - first));
    }
  });
}

/// Reads each element before its place is written, so that the output may use the memory of the input.
template <class T, class Wide, class Combine>
void scan(const T* x, T* y, const Lines& l, Index width, Wide start, bool reverse, bool exclusive,
          const Combine& combine) {
  std::array<Wide, scan_lanes> results;
  std::fill_n(results.begin(), width, start);
  for (Index i = 0; i < l.count; ++i) {
    const Index at = (reverse ? l.count - 1 - i : i) * l.inner;
    for (Index k = 0; k < width; ++k) {
      Wide& result = results[static_cast<std::size_t>(k)];
      const Wide before = result;
      result = combine(result, static_cast<Wide>(x[at + k]));
      y[at + k] = static_cast<T>(exclusive ? before : result);
    }
  }
}

template <class T, class Wide, class Combine>
std::unique_ptr<Kernel> scan_kernel(const KernelRequest& request, Wide start, Combine combine) {
  const Lines l(request.inputs[0].shape, request.attributes.get<Index>("axis"));
  const bool reverse = request.attributes.get<bool>("reverse"), exclusive = request.attributes.get<bool>("exclusive");
  const auto run = [=](const KernelArguments& arguments) {
    for_lines(l, [&](Index offset, Index width) {
      scan(arguments.in<T>(0) + offset, arguments.out<T>(0) + offset, l, width, start, reverse, exclusive, combine);
    });
  };
  return make_kernel(run, like_output(request));
}

/// Calls make(zero of the element type, zero of the type that it is combined in): double, or integers that wrap around.
template <class Make>
std::unique_ptr<Kernel> for_numbers(const KernelRequest& request, std::string& reason, const Make& make) {
  const DType dtype = request.inputs[0].dtype;
  if (is_floating(dtype)) {
    return for_float_or_double(request, dtype, reason, [&](auto zero) { return make(zero, double{}); });
  }
  return visit_dtype(dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      return make(zero, std::uint64_t{});
    } else {
      return decline(reason, "takes numbers; got {}", dtype);
    }
  });
}

}  // namespace

std::unique_ptr<Kernel> create_cumsum(const KernelRequest& request, std::string& reason) {
  return for_numbers(request, reason, [&](auto zero, auto wide) {
    using Wide = decltype(wide);
    return scan_kernel<decltype(zero)>(request, Wide{0}, [](Wide a, Wide b) { return a + b; });
  });
}

std::unique_ptr<Kernel> create_cumprod(const KernelRequest& request, std::string& reason) {
  return for_numbers(request, reason, [&](auto zero, auto wide) {
    using Wide = decltype(wide);
    return scan_kernel<decltype(zero)>(request, Wide{1}, [](Wide a, Wide b) { return a * b; });
  });
}

// With p[i] the product of x[0..i-1] and r[i] = g[i] + x[i+1] r[i+1], the derivative with respect to x[i] is p[i] r[i].
std::unique_ptr<Kernel> create_cumprod_gradient(const KernelRequest& request, std::string& reason) {
  const Lines l(request.inputs[0].shape, request.attributes.get<Index>("axis"));
  return for_float_or_double(request, request.inputs[0].dtype, reason, [&](auto zero) {
    using T = decltype(zero);
    return make_kernel([l](const KernelArguments& arguments) {
      for_lines(l, [&](Index offset, Index width) {
        const T* x = arguments.in<T>(0) + offset;
        const T* g = arguments.in<T>(1) + offset;
        T* dx = arguments.out<T>(0) + offset;
        std::array<double, scan_lanes> later{}, product;
        for (Index i = l.count; i-- > 0;) {
          for (Index k = 0; k < width; ++k) {
            const Index at = i * l.inner + k;
            double& r = later[static_cast<std::size_t>(k)];
            const double factor = i + 1 < l.count ? static_cast<double>(x[at + l.inner]) : 0;
            r = static_cast<double>(g[at]) + (i + 1 < l.count ? factor * r : 0);
            dx[at] = static_cast<T>(r);
          }
        }
        std::fill_n(product.begin(), width, 1.0);
        for (Index i = 0; i < l.count; ++i) {
          for (Index k = 0; k < width; ++k) {
            const Index at = i * l.inner + k;
            double& p = product[static_cast<std::size_t>(k)];
            dx[at] = static_cast<T>(p * static_cast<double>(dx[at]));
            p *= static_cast<double>(x[at]);
          }
        }
      });
    });
  });
}

}  // namespace mezzo::reference
