#include <mezzo/backends/xsimd/softmax.hpp>
#include <mezzo/backends/xsimd/softmax_rows.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

template <class T>
[[gnu::flatten]] void softmax_of_rows(const void* x, void* y, std::int64_t rows, std::int64_t columns) {
  const T* from = static_cast<const T*>(x);
  T* to = static_cast<T*>(y);
  for (std::int64_t row = 0; row < rows; ++row, from += columns, to += columns) {
    const Softmax softmax = softmax_of(from, columns);
    const Floats highest(softmax.maximum), share(1 / softmax.total);
    const auto body = [&](std::int64_t i, auto part) {
      store(to + i, exponential(load(from + i, part) - highest) * share, part);
    };
    stream(columns, body);
  }
}

template <class T>
[[gnu::flatten]] void gradient_of_rows(const void* y, const void* g, void* dx, std::int64_t rows,
                                       std::int64_t columns) {
  const T *p = static_cast<const T*>(y), *q = static_cast<const T*>(g);
  T* to = static_cast<T*>(dx);
  for (std::int64_t row = 0; row < rows; ++row, p += columns, q += columns, to += columns) {
    Floats products(0.0F);
    const auto add = [&](std::int64_t i, auto part) {
      products = multiply_add(load(p + i, part), load(q + i, part), products);
    };
    stream(columns, add, p, q);
    const Floats sum(sum_lanes(products));
    const auto write = [&](std::int64_t i, auto part) {
      store(to + i, load(p + i, part) * (load(q + i, part) - sum), part);
    };
    stream(columns, write);
  }
}

}  // namespace

constexpr SoftmaxFunctions softmax{
    .softmax = {.float32 = softmax_of_rows<float>,
                .bfloat16 = softmax_of_rows<bfloat16>,
                .float16 = softmax_of_rows<float16>},
    .gradient = {.float32 = gradient_of_rows<float>,
                 .bfloat16 = gradient_of_rows<bfloat16>,
                 .float16 = gradient_of_rows<float16>},
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
