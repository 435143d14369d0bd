#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include <mezzo/backends/common/walk.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/lines.hpp>
#include <mezzo/backends/reference/reduction.hpp>
#include <mezzo/core/convert.hpp>
#include <mezzo/core/visit.hpp>

namespace mezzo::reference {
namespace {

constexpr std::int64_t lanes = 256;  // sums that run side by side

/// sums[i] = the sum of the elements that `summed` visits from x + i on, for i < count. Each sum adds up in the walk's
/// order; neighbours add up side by side.
template <class T, class Sum>
void sum_neighbours(const T* x, std::int64_t count, const Walk& summed, Sum* sums) {
  std::fill(sums, sums + count, Sum{0});
  for (std::int64_t line = 0; line < summed.rows(); ++line) {
    const T* start = x + summed.offset(0, line);
    for (std::int64_t i = 0; i < summed.row_size(); ++i) {
      const T* neighbours = start + i * summed.step(0);
      for (std::int64_t k = 0; k < count; ++k) sums[k] += static_cast<Sum>(neighbours[k]);
    }
  }
}

/// The sum of the elements that `summed` visits from x on, in the walk's order. Lines hold neighbours.
template <class T, class Sum>
Sum sum_lines(const T* x, const Walk& summed) {
  Sum sum{0};
  for (std::int64_t line = 0; line < summed.rows(); ++line) {
    const T* elements = x + summed.offset(0, line);
    for (std::int64_t i = 0; i < summed.row_size(); ++i) sum += static_cast<Sum>(elements[i]);
  }
  return sum;
}

/// A kernel: sums in double or int64, divided by the number of terms if `mean`, and rounded once.
template <class T>
std::unique_ptr<Kernel> reduce(const KernelRequest& request, bool mean) {
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
  Reduction walks = reduction(request);
  const Sum divisor = mean ? static_cast<Sum>(walks.reduced.size()) : 1;
  const DType dtype = request.outputs[0].dtype;
  const bool lines = walks.lines();
  return make_kernel([walks = std::move(walks), divisor, dtype, lines](const KernelArguments& arguments) {
    const Walk& kept = walks.kept;
    const Walk& summed = walks.reduced;
    parallel_for(kept.size(), grain_of(summed.size()), [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t step = kept.step(0), width = lines ? 1 : lanes;
      kept.pieces(begin, end, [&](std::int64_t i, std::int64_t count, std::int64_t line, std::int64_t column) {
        std::array<Sum, lanes> sums;
        const T* x = arguments.in<T>(0) + kept.offset(0, line) + column * step;
        for (std::int64_t done = 0; done < count; done += width) {
          const std::int64_t now = std::min(width, count - done);
          if (lines) {
            sums[0] = sum_lines<T, Sum>(x + done * step, summed);
          } else {
            sum_neighbours(x + done, now, summed, sums.data());
          }
          visit_dtype(dtype, [&](auto zero) {
            using Out = decltype(zero);
            Out* out = arguments.out<Out>(0) + i + done;
            for (std::int64_t k = 0; k < now; ++k) out[k] = convert<Out>(sums[static_cast<std::size_t>(k)] / divisor);
          });
        }
      });
    });
  });
}

/// Index of the first of the elements with the highest rank(element) of `count`.
template <class T, class Rank>
std::int64_t highest(const T* x, std::int64_t count, std::int64_t step, const Rank& rank) {
  std::int64_t best = 0;
  auto greatest = rank(x[0]);
  for (std::int64_t i = 1; i < count; ++i) {
    const auto candidate = rank(x[i * step]);
    if (candidate <= greatest) continue;
    best = i;
    greatest = candidate;
  }
  return best;
}

/// A kernel: the index of the element with the highest rank(element) of each line.
template <class T, class Rank>
std::unique_ptr<Kernel> position(const KernelRequest& request, Rank rank) {
  const Lines l(request.inputs[0].shape, request.attributes.get<std::int64_t>("axis"));
  return make_kernel([l, rank](const KernelArguments& arguments) {
    parallel_for(l.lines(), grain_of(l.count), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        arguments.out<std::int64_t>(0)[i] = highest(arguments.in<T>(0) + l.start(i), l.count, l.inner, rank);
      }
    });
  });
}

}  // namespace

std::unique_ptr<Kernel> create_sum(const KernelRequest& request, std::string& reason) {
  const DType dtype = request.inputs[0].dtype;
  if (is_floating(dtype) || is_half(request.outputs[0].dtype)) {
    return for_float_or_double(request, dtype, reason,
                               [&](auto zero) { return reduce<decltype(zero)>(request, false); });
  }
  return visit_dtype(dtype, [&](auto zero) -> std::unique_ptr<Kernel> {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) return reduce<T>(request, false);
    return nullptr;
  });
}

std::unique_ptr<Kernel> create_mean(const KernelRequest& request, std::string& reason) {
  return for_float_or_double(request, request.inputs[0].dtype, reason,
                             [&](auto zero) { return reduce<decltype(zero)>(request, true); });
}

std::unique_ptr<Kernel> create_argmax(const KernelRequest& request, std::string&) {
  return visit_dtype(request.inputs[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    return position<T>(request, [](T x) { return rank_of(x); });
  });
}

std::unique_ptr<Kernel> create_argmin(const KernelRequest& request, std::string&) {
  return visit_dtype(request.inputs[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    // In 64 bits: the negative of the least integer and of an unsigned one.
    return position<T>(request, [](T x) { return ~static_cast<std::int64_t>(rank_below(x)); });
  });
}

}  // namespace mezzo::reference
