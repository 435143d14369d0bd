#include <mezzo/backends/xsimd/depthwise/depthwise.hpp>

#include <algorithm>
#include <type_traits>
#include <utility>

#include <mezzo/backends/xsimd/prefetch.hpp>
#include <mezzo/backends/xsimd/vector.hpp>

// A tile is a few neighbouring outputs of a row. For each register of channels, each input under the tile is loaded
// once and multiplied with all taps that lie on it. Inputs outside of the image are read from an array of zeros.
namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

using Index = std::int64_t;

template <class Body, int... i>
[[gnu::always_inline]] inline void unrolled(const Body& body, std::integer_sequence<int, i...>) {
  (body(std::integral_constant<int, i>{}), ...);
}

/// Calls body(0), ..., body(count - 1) with constants.
template <int count, class Body>
[[gnu::always_inline]] inline void unrolled(const Body& body) {
  unrolled(body, std::make_integer_sequence<int, count>{});
}

/// The places of a tile's outputs and inputs in a row.
template <int taps, int stride, bool transposed>
struct Tile {
  // The sizes of images are often multiples of 7. Transposed tiles start where the first tap lies on an input.
  static constexpr int outputs = transposed ? 8 : 7;
  static constexpr int before = transposed ? (taps - 1) / stride : 0;  ///< inputs before the first output's
  static constexpr int inputs = transposed ? before + (outputs - 1) / stride + 1 : (outputs - 1) * stride + taps;

  /// The tap of output t that lies on input j; outside of [0, taps) if none does.
  static constexpr int tap(int t, int j) { return transposed ? t - stride * (j - before) : j - t * stride; }
  static constexpr bool meet(int t, int j) { return tap(t, j) >= 0 && tap(t, j) < taps; }

  static Index first_output(const DepthwiseShape& shape) { return transposed ? -(shape.left % stride) : 0; }
  static Index first_input(const DepthwiseShape& shape, Index output) {
    return transposed ? (output + shape.left) / stride - before : output * stride - shape.left;
  }
};

/// The input row under a row of the kernel, or a negative number. `row`: of the output.
template <int stride, bool transposed>
Index input_row(const DepthwiseShape& shape, Index row, Index tap) {
  Index at = row * stride - shape.top + tap;
  if (transposed) {
    at = row + shape.top - tap;
    if (at % stride != 0) return -1;
    at /= stride;
  }
  return at < shape.height ? at : -1;
}

/// A row of x, counted over all images.
template <class T>
const T* row_of(const DepthwiseRows& x, Index row, Index pitch) {
  return static_cast<const T*>(x.make != nullptr ? x.make(x.context, row)
                                                 : static_cast<const T*>(x.images) + row * pitch);
}

/// The columns [column, column + count) of a row of x, or zeros where there is none.
template <class T, int count>
void point_to(const T* row, const T* zeros, Index column, Index width, Index channels, const T* (&columns)[count]) {
  for (int j = 0; j < count; ++j) {
    const Index at = column + j;
    columns[j] = at >= 0 && at < width ? row + at * channels : zeros;
  }
}

/// Prefetches the inputs of the next row below a tile, which come from memory.
template <int count, class T>
[[gnu::always_inline]] inline void prefetch_below(const T* p, Index channels) {
  for (int j = 0; j < count; ++j) fetch_to_second_level(p + j * channels);
}

template <class T, int taps, int stride, bool transposed>
[[gnu::flatten]] void convolve(const DepthwiseShape& shape, const DepthwiseRows& x, const float* kernel,
                               const float* bias, const DepthwiseLimits& limits, const void* zeros, void* y,
                               Index begin, Index end) {
  using Places = Tile<taps, stride, transposed>;
  const Index channels = shape.channels, pitch = shape.width * channels;
  const T* const none = static_cast<const T*>(zeros);
  const Floats lower(limits.least), upper(limits.most);
  for (Index i = begin; i < end; ++i) {
    const Index image = i / shape.out_height * shape.height, row = i % shape.out_height;
    const T *rows[taps], *below = nullptr;  // `below`: the row after those
    const float* weights[taps];
    int count = 0;
    for (Index r = 0; r < taps; ++r) {
      const Index at = input_row<stride, transposed>(shape, row, r);
      if (at < 0) continue;
      rows[count] = row_of<T>(x, image + at, pitch);
      below = static_cast<const T*>(x.images) + (image + at + 1) * pitch;
      weights[count++] = kernel + r * taps * channels;
    }
    T* const out = static_cast<T*>(y) + i * shape.out_width * channels;
    for (Index first = Places::first_output(shape); first < shape.out_width; first += Places::outputs) {
      const Index column = Places::first_input(shape, first);
      const T* columns[taps][Places::inputs];
      for (int r = 0; r < count; ++r) point_to(rows[r], none, column, shape.width, channels, columns[r]);
      for_registers(0, channels, [&](Index c, auto part) {
        Floats sums[Places::outputs];
        const Floats start = load(bias + c, part);
        unrolled<Places::outputs>([&](auto t) { sums[t] = start; });
        for (int r = 0; r < count; ++r) {
          Floats w[taps];
          unrolled<taps>([&](auto k) { w[k] = load(weights[r] + k * channels + c, part); });
          unrolled<Places::inputs>([&](auto j) {
            const Floats value = load(columns[r][j] + c, part);
            unrolled<Places::outputs>([&](auto t) {
              if constexpr (Places::meet(t, j)) sums[t] = multiply_add(value, w[Places::tap(t, j)], sums[t]);
            });
          });
        }
        if (count > 0) prefetch_below<Places::inputs>(below + column * channels + c, channels);
        unrolled<Places::outputs>([&](auto t) {
          const Index to = first + t;
          if (to < 0 || to >= shape.out_width) return;
          // max and min return their second operand if one is NaN.
          store(out + to * channels + c, xsimd::min(upper, xsimd::max(lower, sums[t])), part, shape.past_caches);
        });
      });
    }
  }
}

/// Adds the products of `width` outputs of a row of g, from `first` on, to the sums of one row of the kernel. With
/// `prefetches`, prefetches the row `ahead`.
template <class T, int taps, int stride, int width, bool prefetches>
[[gnu::always_inline]] inline void add_products(const T* row, const T* ahead, const T* g, const T* none,
                                                const DepthwiseShape& shape, Index first, float* sums) {
  using Places = Tile<taps, stride, false>;
  constexpr int inputs = (width - 1) * stride + taps;
  const Index channels = shape.channels;
  const T* columns[inputs];
  point_to(row, none, Places::first_input(shape, first), shape.width, channels, columns);
  const T* const cotangents = g + first * channels;
  for_registers(0, channels, [&](Index c, auto part) {
    Floats sum[taps], cotangent[width];
    unrolled<taps>([&](auto k) { sum[k] = load(sums + k * channels + c, part); });
    unrolled<width>([&](auto t) { cotangent[t] = load(cotangents + t * channels + c, part); });
    unrolled<inputs>([&](auto j) {
      const Floats value = load(columns[j] + c, part);
      unrolled<width>([&](auto t) {
        if constexpr (Places::meet(t, j)) {
          constexpr int k = Places::tap(t, j);
          sum[k] = multiply_add(value, cotangent[t], sum[k]);
        }
      });
    });
    if constexpr (prefetches) {
      constexpr int own = width * stride;  // the other inputs are those of the next tile
      prefetch_below<own>(ahead + first * stride * channels + c, channels);
    }
    unrolled<taps>([&](auto k) { store(sums + k * channels + c, sum[k], part); });
  });
}

template <class T, int taps, int stride>
[[gnu::flatten]] void add_kernel_gradient(const DepthwiseShape& shape, const DepthwiseRows& x, const void* g,
                                          const void* zeros, float* sums, Index begin, Index end) {
  constexpr int width = Tile<taps, stride, false>::outputs;
  const Index channels = shape.channels, pitch = shape.width * channels;
  const T* const none = static_cast<const T*>(zeros);
  std::fill_n(sums, taps * taps * channels, 0.0F);
  for (Index i = begin; i < end; ++i) {
    const Index image = i / shape.out_height * shape.height;
    const T* const cotangents = static_cast<const T*>(g) + i * shape.out_width * channels;
    const T *rows[taps], *ahead[taps];
    for (Index r = 0; r < taps; ++r) {
      const Index at = input_row<stride, false>(shape, i % shape.out_height, r);
      rows[r] = at < 0 ? nullptr : row_of<T>(x, image + at, pitch);
      ahead[r] = static_cast<const T*>(x.images) + (image + at + stride) * pitch;
    }
    Index first = 0;
    const auto add = [&](auto size) {
      const auto add_row = [&](Index r, auto prefetches) {
        if (rows[r] == nullptr) return;
        add_products<T, taps, stride, decltype(size)::value, decltype(prefetches)::value>(
            rows[r], ahead[r], cotangents, none, shape, first, sums + r * taps * channels);
      };
      for (Index r = 0; r < taps - stride; ++r) add_row(r, std::false_type{});
      for (Index r = taps - stride; r < taps; ++r) add_row(r, std::true_type{});
      first += size;
    };
    while (first + width <= shape.out_width) add(std::integral_constant<int, width>{});
    while (first < shape.out_width) add(std::integral_constant<int, 1>{});
  }
}

template <class T>
void convolve(const DepthwiseShape& shape, const DepthwiseRows& x, const float* kernel, const float* bias,
              const DepthwiseLimits& limits, const void* zeros, void* y, Index begin, Index end) {
  const auto function = shape.taps == 3     ? (shape.stride == 1   ? convolve<T, 3, 1, false>
                                               : !shape.transposed ? convolve<T, 3, 2, false>
                                                                   : convolve<T, 3, 2, true>)
                        : shape.stride == 1 ? convolve<T, 5, 1, false>
                        : !shape.transposed ? convolve<T, 5, 2, false>
                                            : convolve<T, 5, 2, true>;
  function(shape, x, kernel, bias, limits, zeros, y, begin, end);
}

template <class T>
void kernel_gradient(const DepthwiseShape& shape, const DepthwiseRows& x, const void* g, const void* zeros, float* sums,
                     Index begin, Index end) {
  const auto function = shape.taps == 3
                            ? (shape.stride == 1 ? add_kernel_gradient<T, 3, 1> : add_kernel_gradient<T, 3, 2>)
                            : (shape.stride == 1 ? add_kernel_gradient<T, 5, 1> : add_kernel_gradient<T, 5, 2>);
  function(shape, x, g, zeros, sums, begin, end);
}

}  // namespace

constexpr DepthwiseFunctions depthwise{
    .convolve = {.float32 = convolve<float>, .bfloat16 = convolve<bfloat16>, .float16 = convolve<float16>},
    .kernel_gradient = {.float32 = kernel_gradient<float>,
                        .bfloat16 = kernel_gradient<bfloat16>,
                        .float16 = kernel_gradient<float16>},
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
