#include <mezzo/backends/xsimd/bands.hpp>
#include <mezzo/backends/xsimd/columns.hpp>
#include <mezzo/backends/xsimd/reduce.hpp>
#include <mezzo/backends/xsimd/rounding.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// The sum of up to a few thousand elements.
template <class T>
[[gnu::always_inline]] inline float sum_stretch(const T* x, std::int64_t count) {
  constexpr int chains = 8;  // independent additions, to hide their latency
  Floats sums[chains];
  for (Floats& sum : sums) sum = Floats(0.0F);
  std::int64_t i = 0;
  for (; i + chains * lanes <= count; i += chains * lanes) {
    for (int j = 0; j < chains * lanes; j += stride) prefetch_ahead(x + i + j);
    for (int j = 0; j < chains; ++j) sums[j] += load(x + i + j * lanes, Whole{});
  }
  for (; i + lanes <= count; i += lanes) sums[0] += load(x + i, Whole{});
  if (i < count) sums[1] += load(x + i, first_lanes(count - i));
  for (int half = chains / 2; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) sums[j] += sums[j + half];
  }
  return sum_lanes(sums[0]);
}

template <class T>
[[gnu::flatten]] void sum_rows(const void* x, std::int64_t rows, std::int64_t columns, double* sums) {
  constexpr std::int64_t stretch = 4096;
  const T* row = static_cast<const T*>(x);
  for (std::int64_t i = 0; i < rows; ++i, row += columns) {
    double sum = 0;
    for (std::int64_t j = 0; j < columns; j += stretch) {
      sum += static_cast<double>(sum_stretch(row + j, columns - j < stretch ? columns - j : stretch));
    }
    sums[i] = sum;
  }
}

/// Sums of up to `widest` columns. Bands of 8 rows are added in float, and then to the sums of 64 rows.
template <class T>
[[gnu::flatten]] void sum_columns(const void* x, std::int64_t rows, std::int64_t columns, std::int64_t stride_of_rows,
                                  double* sums) {
  constexpr std::int64_t widest = 1024;
  alignas(64) float piece[widest];
  for (std::int64_t i = 0; i < columns; ++i) sums[i] = 0;
  for (std::int64_t first = 0; first < rows; first += piece_rows) {
    for (std::int64_t i = 0; i < columns; ++i) piece[i] = 0;
    const T* const from = static_cast<const T*>(x) + first * stride_of_rows;
    const std::int64_t count = rows - first < piece_rows ? rows - first : piece_rows;
    for_bands(count, columns, [&](std::int64_t row, auto height, std::int64_t column, auto part) {
      const T* const p = from + row * stride_of_rows + column;
      Floats band[decltype(height)::size];
      for (int i = 0; i < decltype(height)::size; ++i) band[i] = load(p + i * stride_of_rows, part);
      for (int half = decltype(height)::size / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; ++i) band[i] += band[i + half];
      }
      store(piece + column, load(static_cast<const float*>(piece) + column, part) + band[0], part);
    });
    for (std::int64_t i = 0; i < columns; ++i) sums[i] += static_cast<double>(piece[i]);
  }
}

/// Stores numbers that T holds exactly.
template <int width, class T, class Some>
[[gnu::always_inline]] inline void store_exact(T* p, const Floats (&x)[width], Some part) {
  if constexpr (width % 2 == 0 && std::is_same_v<Some, Whole>) {
    for (int k = 0; k < width; k += 2) store_two_exact(p + k * lanes, x[k], x[k + 1]);
  } else {
    for (int k = 0; k < width; ++k) store(p + k * lanes, x[k], part);
  }
}

template <class T>
[[gnu::flatten]] void mask_and_sum(const void* y, const void* g, void* out, std::int64_t rows, std::int64_t columns,
                                   double* sums) {
  for (std::int64_t i = 0; i < columns; ++i) sums[i] = 0;
  for_pieces(rows, columns, [=](std::int64_t row, std::int64_t count, std::int64_t column, auto registers, auto part) {
    constexpr int width = decltype(registers)::size;
    const std::int64_t first = row * columns + column;
    const T* p = static_cast<const T*>(y) + first;
    const T* q = static_cast<const T*>(g) + first;
    T* to = static_cast<T*>(out) + first;
    Floats gradients[width], sum[width];
    for (int k = 0; k < width; ++k) sum[k] = Floats(0.0F);
    for (std::int64_t i = 0; i < count; ++i, p += columns, q += columns, to += columns) {
      prefetch_columns(p + piece_rows * columns, width);
      prefetch_columns(q + piece_rows * columns, width);
      load_masked(q, p, gradients, part);
      store_exact(to, gradients, part);
      for (int k = 0; k < width; ++k) sum[k] += gradients[k];
    }
    for (int k = 0; k < width; ++k) add_to(sums + column + k * lanes, sum[k], part);
  });
}

}  // namespace

constexpr ReduceFunctions reduce{
    .rows = {.float32 = sum_rows<float>, .bfloat16 = sum_rows<bfloat16>, .float16 = sum_rows<float16>},
    .columns = {.float32 = sum_columns<float>, .bfloat16 = sum_columns<bfloat16>, .float16 = sum_columns<float16>},
};

constexpr ReluBiasGradientFunctions relu_bias_gradient{
    .mask_and_sum = {.float32 = mask_and_sum<float>,
                     .bfloat16 = mask_and_sum<bfloat16>,
                     .float16 = mask_and_sum<float16>},
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
