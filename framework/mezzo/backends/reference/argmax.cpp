#include <cstdint>
#include <type_traits>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/reference/creators.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/visit.hpp>

namespace mezzo::reference {
namespace {

/// The first of the greatest of `count` elements; NaN is above all.
template <class T>
std::int64_t argmax_of(const T* x, std::int64_t count, std::int64_t step) {
  using Compared = std::conditional_t<std::is_class_v<T>, float, T>;
  std::int64_t best = 0;
  auto greatest = static_cast<Compared>(x[0]);
  for (std::int64_t i = 1; i < count && greatest == greatest; ++i) {
    const auto candidate = static_cast<Compared>(x[i * step]);
    if (candidate <= greatest) continue;
    best = i;
    greatest = candidate;
  }
  return best;
}

}  // namespace

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
