#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>

#include <mezzo/backends/common/walk.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/backends/reference/rows.hpp>
#include <mezzo/core/convert.hpp>
#include <mezzo/core/float_order.hpp>
#include <mezzo/core/visit.hpp>

namespace mezzo::reference {
namespace {

constexpr std::int64_t lanes = 256;  // sums that run side by side

/// Two walks over the input: along the kept axes (the outputs, in order) and along the summed axes.
struct Reduction {
  Walk kept, summed;
};

Reduction reduction(const KernelRequest& request) {
  const Shape& shape = request.inputs[0].shape;
  const auto& axes = request.attributes.get<Shape>("axes");
  const Shape own = row_major_strides(shape);
  Shape kept, kept_strides, summed, summed_strides;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const bool is_summed = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(axis)) != axes.end();
    (is_summed ? summed : kept).push_back(shape[axis]);
    (is_summed ? summed_strides : kept_strides).push_back(own[axis]);
  }
  return {Walk(kept, {kept_strides}), Walk(summed, {summed_strides})};
}

/// sums[i] = the sum of the elements that `summed` visits from x + i on, for i < count. Each sum adds up in the walk's
/// order; neighbours add up side by side.
template <class T, class Sum>
void sum_neighbours(const T* x, std::int64_t count, const Walk& summed, Sum* sums) {
  auto out = row(sums, count);
  out.fill(Sum{0});
  for (std::int64_t line = 0; line < summed.rows(); ++line) {
    const T* start = x + summed.offset(0, line);
    for (std::int64_t i = 0; i < summed.row_size(); ++i) {
      xt::noalias(out) += xt::cast<Sum>(row(start + i * summed.step(0), count));
    }
  }
}

/// The sum of the elements that `summed` visits from x on, in the walk's order. Lines hold neighbours.
template <class T, class Sum>
Sum sum_lines(const T* x, const Walk& summed) {
  Sum sum{0};
  for (std::int64_t line = 0; line < summed.rows(); ++line) {
    const auto elements = row(x + summed.offset(0, line), summed.row_size());
    sum = std::accumulate(elements.begin(), elements.end(), sum);
  }
  return sum;
}

/// A kernel: sums in double or int64, divided by the number of terms if `mean`, and rounded once.
template <class T>
std::unique_ptr<Kernel> reduce(const KernelRequest& request, bool mean) {
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
  Reduction walks = reduction(request);
  const Sum divisor = mean ? static_cast<Sum>(walks.summed.size()) : 1;
  const DType dtype = request.outputs[0].dtype;
  // The last axis of a dense array is either summed or kept, so one of the two walks visits neighbours.
  const bool lines = walks.summed.step(0) == 1 && walks.summed.size() != 1;
  return make_kernel([walks = std::move(walks), divisor, dtype, lines](const KernelArguments& arguments) {
    const Walk& kept = walks.kept;
    const Walk& summed = walks.summed;
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

/// Integer that orders elements; NaN is above all numbers.
template <class T>
auto rank_of(T x) {
  if constexpr (std::is_integral_v<T>) {
    return x;
  } else {
    const std::conditional_t<std::is_same_v<T, double>, double, float> number(x);
    const auto order = detail::float_order(number);
    return number != number ? std::numeric_limits<std::decay_t<decltype(order)>>::max() : order;
  }
}

/// Index of the first of the greatest of `count` elements.
template <class T>
std::int64_t argmax_of(const T* x, std::int64_t count, std::int64_t step) {
  std::int64_t best = 0;
  auto greatest = rank_of(x[0]);
  for (std::int64_t i = 1; i < count; ++i) {
    const auto candidate = rank_of(x[i * step]);
    if (candidate <= greatest) continue;
    best = i;
    greatest = candidate;
  }
  return best;
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
  const Shape& shape = request.inputs[0].shape;
  const auto axis = static_cast<std::size_t>(request.attributes.get<std::int64_t>("axis"));
  const std::int64_t count = shape[axis];
  const std::int64_t step = row_major_strides(shape)[axis];
  const std::int64_t outputs = element_count(request.outputs[0].shape);
  return visit_dtype(request.inputs[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    return make_kernel([=](const KernelArguments& arguments) {
      parallel_for(outputs, grain_of(count), [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
          const T* x = arguments.in<T>(0) + i / step * count * step + i % step;
          arguments.out<std::int64_t>(0)[i] = argmax_of(x, count, step);
        }
      });
    });
  });
}

}  // namespace mezzo::reference
