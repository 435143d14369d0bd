#include <mezzo/backends/xsimd/few_taps/few_taps.hpp>

#include <type_traits>

#include <mezzo/backends/xsimd/vector.hpp>

// A convolution adds all taps of a few pixels in registers. A kernel gradient keeps the sums of all taps in registers
// while it goes over the pixels. Both read each input once for each tap that lies on it, from the L1 cache.
namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

using Index = std::int64_t;

/// Places of the taps under the first pixel of a row of outputs.
struct Taps {
  Index at[most_taps];

  explicit Taps(const FewTapsShape& shape) {
    Index tap = 0;
    for (Index row = 0; row < shape.kernel_height; ++row) {
      for (Index i = 0; i < shape.kernel_width * shape.channels; ++i) at[tap++] = row * shape.row() + i;
    }
  }
};

/// Registers of filters that are computed together.
constexpr int wide = lanes == 16 ? 2 : 1;

/// Calls body(first filter, registers, part) for all filters.
template <class Body>
[[gnu::always_inline]] inline void for_filters(Index filters, const Body& body) {
  Index f = 0;
  for (; f + wide * lanes <= filters; f += wide * lanes) body(f, std::integral_constant<int, wide>{}, Whole{});
  for (; f + lanes <= filters; f += lanes) body(f, std::integral_constant<int, 1>{}, Whole{});
  if (f < filters) body(f, std::integral_constant<int, 1>{}, first_lanes(filters - f));
}

/// Operands of a row of outputs.
template <class T>
struct Row {
  const float *x, *kernel, *bias;
  Floats least;
  T* y;
};

/// Outputs [column, column + pixels) of a row.
template <int pixels, int registers, class T, class Some>
[[gnu::always_inline]] inline void convolve_pixels(const FewTapsShape& shape, const Taps& taps, const Row<T>& row,
                                                   Index column, Index filter, Some part) {
  const Index step = shape.across * shape.channels, count = shape.taps();
  Floats sums[pixels][registers];
  for (int r = 0; r < registers; ++r) {
    const Floats bias = load(row.bias + filter + r * lanes, part);
    for (int p = 0; p < pixels; ++p) sums[p][r] = bias;
  }
  for (Index tap = 0; tap < count; ++tap) {
    const float* const x = row.x + taps.at[tap] + column * step;
    Floats weights[registers];
    for (int r = 0; r < registers; ++r) weights[r] = load(row.kernel + tap * shape.filters + filter + r * lanes, part);
    for (int p = 0; p < pixels; ++p) {
      const Floats one(x[p * step]);
      for (int r = 0; r < registers; ++r) sums[p][r] = multiply_add(one, weights[r], sums[p][r]);
    }
  }
  for (int p = 0; p < pixels; ++p) {
    T* const to = row.y + (column + p) * shape.filters + filter;
    // The maximum is its second operand, the sum, if that is NaN.
    for (int r = 0; r < registers; ++r) store(to + r * lanes, xsimd::max(row.least, sums[p][r]), part);
  }
}

template <class T>
[[gnu::flatten]] void convolve(const FewTapsShape& shape, const float* x, const float* kernel, const float* bias,
                               float least, void* y, Index rows) {
  constexpr int pixels = 6;
  const Taps taps(shape);
  for (Index i = 0; i < rows; ++i) {
    const Row<T> row{x + i * shape.down * shape.row(), kernel, bias, Floats(least),
                     static_cast<T*>(y) + i * shape.out_width * shape.filters};
    for_filters(shape.filters, [&](Index filter, auto registers, auto part) {
      constexpr int count = decltype(registers)::value;
      if (shape.out_width < pixels) {
        for (Index p = 0; p < shape.out_width; ++p) convolve_pixels<1, count>(shape, taps, row, p, filter, part);
        return;
      }
      // The last tile may compute some outputs again.
      for (Index p = 0; p < shape.out_width; p += pixels) {
        convolve_pixels<pixels, count>(shape, taps, row, p < shape.out_width - pixels ? p : shape.out_width - pixels,
                                       filter, part);
      }
    });
  }
}

template <int count, int registers, class T, class Some>
[[gnu::always_inline]] inline void add_gradient(const FewTapsShape& shape, const Taps& taps, const float* x, const T* g,
                                                float* sums, Index rows, Some part) {
  const Index step = shape.across * shape.channels;
  Floats own[count][registers];
  for (auto& tap : own) {
    for (Floats& sum : tap) sum = Floats(0.0F);
  }
  for (Index i = 0; i < rows; ++i) {
    const float* from = x + i * shape.down * shape.row();
    const T* cotangent = g + i * shape.out_width * shape.filters;
    for (Index p = 0; p < shape.out_width; ++p, from += step, cotangent += shape.filters) {
      Floats values[registers];
      for (int r = 0; r < registers; ++r) values[r] = load(cotangent + r * lanes, part);
#pragma GCC unroll 12
      for (int tap = 0; tap < count; ++tap) {
        const Floats one(from[taps.at[tap]]);
        for (int r = 0; r < registers; ++r) own[tap][r] = multiply_add(one, values[r], own[tap][r]);
      }
    }
  }
  for (int tap = 0; tap < count; ++tap) {
    for (int r = 0; r < registers; ++r) {
      float* const to = sums + tap * shape.filters + r * lanes;
      store(to, load(to, part) + own[tap][r], part);
    }
  }
}

/// add_gradient() with the number of taps as a constant.
template <int count, int registers, class T, class Some>
[[gnu::always_inline]] inline void add_gradient_of(const FewTapsShape& shape, const Taps& taps, const float* x,
                                                   const T* g, float* sums, Index rows, Some part) {
  if constexpr (count > 0) {
    if (shape.taps() == count) return add_gradient<count, registers>(shape, taps, x, g, sums, rows, part);
    add_gradient_of<count - 1, registers>(shape, taps, x, g, sums, rows, part);
  }
}

template <class T>
[[gnu::flatten]] void kernel_gradient(const FewTapsShape& shape, const float* x, const void* g, float* sums,
                                      Index rows) {
  const Taps taps(shape);
  for_filters(shape.filters, [&](Index filter, auto registers, auto part) {
    add_gradient_of<most_taps, decltype(registers)::value>(shape, taps, x, static_cast<const T*>(g) + filter,
                                                           sums + filter, rows, part);
  });
}

}  // namespace

constexpr FewTapsFunctions few_taps{
    .convolve = {.float32 = convolve<float>, .bfloat16 = convolve<bfloat16>, .float16 = convolve<float16>},
    .kernel_gradient = {.float32 = kernel_gradient<float>,
                        .bfloat16 = kernel_gradient<bfloat16>,
                        .float16 = kernel_gradient<float16>},
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
