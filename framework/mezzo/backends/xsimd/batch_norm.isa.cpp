#include <mezzo/backends/xsimd/batch_norm.hpp>

#include <type_traits>

#include <mezzo/backends/xsimd/columns.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

template <class T>
[[gnu::flatten]] void sample_mean(const void* x, std::int64_t rows, std::int64_t columns, float* mean) {
  const std::int64_t samples = rows < piece_rows ? rows : piece_rows;
  const std::int64_t pitch = rows / samples * columns;
  const Floats share(1.0F / static_cast<float>(samples));
  const auto body = [&](std::int64_t column, auto part) {
    Floats sum(0.0F);
    for (std::int64_t i = 0; i < samples; ++i) sum += load(static_cast<const T*>(x) + i * pitch + column, part);
    store(mean + column, sum * share, part);
  };
  stream(columns, body);
}

template <class T>
[[gnu::flatten]] void sums_about(const void* x, const float* about, std::int64_t rows, std::int64_t columns,
                                 double* sums, double* squares) {
  for (std::int64_t i = 0; i < columns; ++i) sums[i] = squares[i] = 0;
  for_pieces(rows, columns, [=](std::int64_t row, std::int64_t count, std::int64_t column, auto registers, auto part) {
    constexpr int width = decltype(registers)::size;
    const T* p = static_cast<const T*>(x) + row * columns + column;
    Floats values[width], m[width], sum[width], square[width];
    load_row(about + column, m, part);
    for (int k = 0; k < width; ++k) sum[k] = square[k] = Floats(0.0F);
    for (std::int64_t i = 0; i < count; ++i, p += columns) {
      prefetch_columns(p + piece_rows * columns, width);
      load_row(p, values, part);
      for (int k = 0; k < width; ++k) {
        const Floats difference = values[k] - m[k];
        sum[k] += difference;
        square[k] = multiply_add(difference, difference, square[k]);
      }
    }
    for (int k = 0; k < width; ++k) {
      add_to(sums + column + k * lanes, sum[k], part);
      add_to(squares + column + k * lanes, square[k], part);
    }
  });
}

/// x within the limits. A NaN stays: max and min give their second operand if one is NaN, also a limit.
[[gnu::always_inline]] inline Floats limited(const Floats& x, const Floats& least, const Floats& most) {
  return xsimd::max(least, xsimd::min(most, x));
}

template <class T, bool adds>
[[gnu::flatten]] void normalize_rows(const void* x, const void* residual, void* y, const float* mean,
                                     const float* scale, const float* shift, float least, float most, std::int64_t rows,
                                     std::int64_t columns, bool past_caches) {
  for_pieces(rows, columns, [=](std::int64_t row, std::int64_t count, std::int64_t column, auto registers, auto part) {
    constexpr int width = decltype(registers)::size;
    const T* p = static_cast<const T*>(x) + row * columns + column;
    const T* r = adds ? static_cast<const T*>(residual) + row * columns + column : nullptr;
    T* to = static_cast<T*>(y) + row * columns + column;
    Floats values[width], others[width], m[width], s[width], t[width];
    load_row(mean + column, m, part);
    load_row(scale + column, s, part);
    load_row(shift + column, t, part);
    for (std::int64_t i = 0; i < count; ++i, p += columns, to += columns) {
      prefetch_columns(p + piece_rows * columns, width);
      load_row(p, values, part);
      if constexpr (adds) {
        prefetch_columns(r + piece_rows * columns, width);
        load_row(r, others, part);
        r += columns;
      }
      for (int k = 0; k < width; ++k) {
        Floats value = multiply_add(values[k] - m[k], s[k], t[k]);
        if constexpr (adds) value += others[k];
        store(to + k * lanes, limited(value, Floats(least), Floats(most)), part, past_caches);
      }
    }
  });
}

template <class T>
void normalize(const void* x, const void* residual, void* y, const float* mean, const float* scale, const float* shift,
               float least, float most, std::int64_t rows, std::int64_t columns, bool past_caches) {
  const auto function = residual != nullptr ? normalize_rows<T, true> : normalize_rows<T, false>;
  function(x, residual, y, mean, scale, shift, least, most, rows, columns, past_caches);
}

/// A few rows at a time, from their first to their last column: in the order of memory, which the hardware follows.
[[gnu::flatten]] void normalize_in_order(const float* x, float* y, const float* mean, const float* scale,
                                         const float* shift, float least, float most, std::int64_t rows,
                                         std::int64_t columns) {
  const auto some_rows = [=](std::int64_t row, auto count) {
    const float* from = x + row * columns;
    float* to = y + row * columns;
    for_registers(0, columns, [&](std::int64_t c, auto part) {
      const Floats m = load(mean + c, part), s = load(scale + c, part), t = load(shift + c, part);
      for (int i = 0; i < count.value; ++i) {
        const Floats value = multiply_add(load(from + i * columns + c, part) - m, s, t);
        store(to + i * columns + c, limited(value, Floats(least), Floats(most)), part);
      }
    });
  };
  constexpr int together = 4;
  std::int64_t row = 0;
  for (; row + together <= rows; row += together) some_rows(row, std::integral_constant<int, together>{});
  for (; row < rows; ++row) some_rows(row, std::integral_constant<int, 1>{});
}

/// The array of outputs that g is masked by.
enum class By { nothing, stored, computed };

/// A piece's columns of a cotangent: loads rows of the masked g and of x - mean.
template <class T, By by, int width>
struct CotangentPiece {
  Floats mean[width], scale[width], shift[width], least, most;

  template <class Some>
  [[gnu::always_inline]] inline CotangentPiece(const NormCotangent& of, std::int64_t column, Some part)
      : least(of.least), most(of.most) {
    load_row(of.mean + column, mean, part);
    if constexpr (by == By::computed) {
      load_row(of.scale + column, scale, part);
      load_row(of.shift + column, shift, part);
    }
  }

  /// Loads from element `at` on, and prefetches from `ahead` on.
  template <class Some>
  [[gnu::always_inline]] inline void load(const NormCotangent& of, std::int64_t at, std::int64_t ahead,
                                          Floats (&g)[width], Floats (&differences)[width], Some part) const {
    const T *cotangents = static_cast<const T*>(of.g), *x = static_cast<const T*>(of.x);
    prefetch_columns(cotangents + ahead, width);
    prefetch_columns(x + ahead, width);
    load_row(cotangents + at, g, part);
    load_row(x + at, differences, part);
    for (int k = 0; k < width; ++k) differences[k] -= mean[k];
    if constexpr (by != By::nothing) {
      Floats y[width];
      if constexpr (by == By::stored) {
        prefetch_columns(static_cast<const T*>(of.y) + ahead, width);
        load_row(static_cast<const T*>(of.y) + at, y, part);
      } else {
        for (int k = 0; k < width; ++k) y[k] = multiply_add(differences[k], scale[k], shift[k]);
      }
      const Floats zero(0.0F);
      for (int k = 0; k < width; ++k) g[k] = xsimd::select((y[k] > least) & !(y[k] >= most), g[k], zero);
    }
  }
};

template <class T, By by, bool keeps>
[[gnu::flatten]] void sums_of_gradients(const NormCotangent& of, void* masked, std::int64_t rows, std::int64_t columns,
                                        double* sums, double* products) {
  for (std::int64_t i = 0; i < columns; ++i) sums[i] = products[i] = 0;
  for_pieces(rows, columns, [=](std::int64_t row, std::int64_t count, std::int64_t column, auto registers, auto part) {
    constexpr int width = decltype(registers)::size;
    const CotangentPiece<T, by, width> piece(of, column, part);
    Floats gradients[width], differences[width], sum[width], product[width];
    for (int k = 0; k < width; ++k) sum[k] = product[k] = Floats(0.0F);
    std::int64_t at = row * columns + column;
    for (std::int64_t i = 0; i < count; ++i, at += columns) {
      piece.load(of, at, at + piece_rows * columns, gradients, differences, part);
      for (int k = 0; k < width; ++k) {
        if constexpr (keeps) store(static_cast<T*>(masked) + at + k * lanes, gradients[k], part);
        sum[k] += gradients[k];
        product[k] = multiply_add(gradients[k], differences[k], product[k]);
      }
    }
    for (int k = 0; k < width; ++k) {
      add_to(sums + column + k * lanes, sum[k], part);
      add_to(products + column + k * lanes, product[k], part);
    }
  });
}

template <class T>
void gradient_sums(const NormCotangent& of, void* masked, std::int64_t rows, std::int64_t columns, double* sums,
                   double* products) {
  const bool keeps = masked != nullptr;
  const auto function = of.y != nullptr
                            ? (keeps ? sums_of_gradients<T, By::stored, true> : sums_of_gradients<T, By::stored, false>)
                        : of.scale == nullptr ? sums_of_gradients<T, By::nothing, false>
                        : keeps               ? sums_of_gradients<T, By::computed, true>
                                              : sums_of_gradients<T, By::computed, false>;
  function(of, masked, rows, columns, sums, products);
}

template <class T, By by>
[[gnu::flatten]] void gradient_rows(const NormCotangent& of, void* dx, const float* from_g, const float* from_x,
                                    const float* add, std::int64_t rows, std::int64_t columns) {
  for_pieces(rows, columns, [=](std::int64_t row, std::int64_t count, std::int64_t column, auto registers, auto part) {
    constexpr int width = decltype(registers)::size;
    const CotangentPiece<T, by, width> piece(of, column, part);
    Floats gradients[width], differences[width], a[width], b[width], t[width];
    load_row(from_g + column, a, part);
    load_row(from_x + column, b, part);
    load_row(add + column, t, part);
    std::int64_t at = row * columns + column;
    for (std::int64_t i = 0; i < count; ++i, at += columns) {
      piece.load(of, at, at + piece_rows * columns, gradients, differences, part);
      for (int k = 0; k < width; ++k) {
        const Floats rest = multiply_add(b[k], differences[k], t[k]);
        store(static_cast<T*>(dx) + at + k * lanes, multiply_add(a[k], gradients[k], rest), part);
      }
    }
  });
}

template <class T>
void gradient(const NormCotangent& of, void* dx, const float* from_g, const float* from_x, const float* add,
              std::int64_t rows, std::int64_t columns) {
  const auto function = of.y != nullptr       ? gradient_rows<T, By::stored>
                        : of.scale != nullptr ? gradient_rows<T, By::computed>
                                              : gradient_rows<T, By::nothing>;
  function(of, dx, from_g, from_x, add, rows, columns);
}

}  // namespace

constexpr BatchNormFunctions batch_norm{
    .sample_mean = {.float32 = sample_mean<float>, .bfloat16 = sample_mean<bfloat16>, .float16 = sample_mean<float16>},
    .sums = {.float32 = sums_about<float>, .bfloat16 = sums_about<bfloat16>, .float16 = sums_about<float16>},
    .normalize = {.float32 = normalize<float>, .bfloat16 = normalize<bfloat16>, .float16 = normalize<float16>},
    .normalize_in_order = normalize_in_order,
    .gradient_sums = {.float32 = gradient_sums<float>,
                      .bfloat16 = gradient_sums<bfloat16>,
                      .float16 = gradient_sums<float16>},
    .gradient = {.float32 = gradient<float>, .bfloat16 = gradient<bfloat16>, .float16 = gradient<float16>},
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
