#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/common/walk.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/convert.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/visit.hpp>

namespace mezzo::reference {
namespace {

constexpr std::int64_t lanes = 64;

/// Two walks over the input: along the axes that are kept (the outputs, in order) and along those that are
/// summed.
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

/// Adds up, for each of `count` neighbours from x on, what the walk finds.
template <class T, class Sum>
void sum_neighbours(const T* x, std::int64_t count, const Walk& summed, Sum* sums) {
  std::fill_n(sums, count, Sum{0});
  for (std::int64_t row = 0; row < summed.rows(); ++row) {
    const T* start = x + summed.offset(0, row);
    for (std::int64_t i = 0; i < summed.row_size(); ++i) {
      const T* from = start + i * summed.step(0);
      for (std::int64_t lane = 0; lane < count; ++lane) sums[lane] += static_cast<Sum>(from[lane]);
    }
  }
}

/// Sums in double or int64, divides them by `divisor`, and stores each once rounded.
template <class T>
std::unique_ptr<Kernel> reduce(const KernelRequest& request, bool mean) {
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
  Reduction walks = reduction(request);
  const Sum divisor = mean ? static_cast<Sum>(walks.summed.size()) : 1;
  const DType dtype = request.outputs[0].dtype;
  return make_kernel([walks = std::move(walks), divisor, dtype](const KernelArguments& arguments) {
    const Walk& kept = walks.kept;
    const Walk& summed = walks.summed;
    parallel_for(kept.size(), grain_of(summed.size()), [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t step = kept.step(0);
      kept.pieces(begin, end, [&](std::int64_t i, std::int64_t count, std::int64_t row, std::int64_t column) {
        std::array<Sum, lanes> sums;
        const T* x = arguments.in<T>(0) + kept.offset(0, row) + column * step;
        const std::int64_t width = step == 1 ? lanes : 1;
        for (std::int64_t done = 0; done < count; done += width) {
          const std::int64_t now = std::min(width, count - done);
          sum_neighbours(x + done * step, now, summed, sums.data());
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

}  // namespace mezzo::reference
