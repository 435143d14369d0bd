#include <math.h>

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
    const float share = 1 / softmax.total;
    const auto body = [&](std::int64_t i, auto part) {
      const auto weight = weight_of(load(from + i, part), softmax.maximum);
      store(to + i, weight * std::decay_t<decltype(weight)>(share), part);
    };
    stream_groups(columns, body);
  }
}

/// In float32 the weights are kept in y, and then scaled.
template <>
[[gnu::flatten]] void softmax_of_rows<float>(const void* x, void* y, std::int64_t rows, std::int64_t columns) {
  const auto* from = static_cast<const float*>(x);
  auto* to = static_cast<float*>(y);
  for (std::int64_t row = 0; row < rows; ++row, from += columns, to += columns) {
    const float highest = maximum(from, columns);
    Grouped sums(0.0F);
    const auto weigh = [&](std::int64_t i, auto part) {
      const auto weight = weight_of(load(from + i, part), highest);
      store(to + i, weight, part);
      auto& sum = part_of(sums, part);
      sum = sum + only(weight, Floats(0.0F), part);
    };
    stream_groups(columns, weigh);
    const Floats share(1 / sum_lanes(sums));
    stream(columns, [&](std::int64_t i, auto part) { store(to + i, load(to + i, part) * share, part); });
  }
}

template <class T>
[[gnu::flatten]] void log_softmax_of_rows(const void* x, void* y, std::int64_t rows, std::int64_t columns) {
  const T* from = static_cast<const T*>(x);
  T* to = static_cast<T*>(y);
  for (std::int64_t row = 0; row < rows; ++row, from += columns, to += columns) {
    const Softmax softmax = softmax_of(from, columns);
    const Floats highest(softmax.maximum), scale(logf(softmax.total));
    stream(columns, [&](std::int64_t i, auto part) { store(to + i, load(from + i, part) - highest - scale, part); });
  }
}

/// Newton's method for the threshold t, which is piecewise linear: from the largest element less 1, which is at most t,
/// it rises to t in a few steps. With elements and t less the largest element, the sums have few and small terms.
template <class T>
[[gnu::flatten]] void sparsemax_of_rows(const void* x, void* y, std::int64_t rows, std::int64_t columns) {
  const T* from = static_cast<const T*>(x);
  T* to = static_cast<T*>(y);
  const Floats zero(0.0F), one(1.0F);
  for (std::int64_t row = 0; row < rows; ++row, from += columns, to += columns) {
    const Floats highest(maximum(from, columns));
    float threshold = -1, support = __builtin_inff();
    while (true) {
      const Floats least(threshold);
      Floats sums(0.0F), counts(0.0F);
      stream(columns, [&](std::int64_t i, auto part) {
        const Floats element = only(load(from + i, part), Floats(-__builtin_inff()), part) - highest;
        const Mask outside = element <= least;  // false for NaN, so that it reaches the sum
        sums += xsimd::select(outside, zero, element);
        counts += xsimd::select(outside, zero, one);
      });
      const float sum = sum_lanes(sums.data), count = sum_lanes(counts.data);
      if (!(count < support)) break;  // elements above t become fewer from step to step
      support = count;
      threshold = (sum - 1) / count;
    }
    const Floats shift(threshold);
    stream(columns, [&](std::int64_t i, auto part) {
      store(to + i, xsimd::max(zero, load(from + i, part) - highest - shift), part);
    });
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
    .log_softmax = {.float32 = log_softmax_of_rows<float>,
                    .bfloat16 = log_softmax_of_rows<bfloat16>,
                    .float16 = log_softmax_of_rows<float16>},
    .sparsemax = {.float32 = sparsemax_of_rows<float>,
                  .bfloat16 = sparsemax_of_rows<bfloat16>,
                  .float16 = sparsemax_of_rows<float16>},
    .gradient = {.float32 = gradient_of_rows<float>,
                 .bfloat16 = gradient_of_rows<bfloat16>,
                 .float16 = gradient_of_rows<float16>},
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
