#include <mezzo/backends/xsimd/batch_norm.hpp>
#include <mezzo/backends/xsimd/columns.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// The registers of a row that start at p.
template <int width, class T, class Some>
[[gnu::always_inline]] inline void load_row(const T* p, Floats (&row)[width], Some part) {
  for (int k = 0; k < width; ++k) row[k] = load(p + k * lanes, part);
}

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

template <class T>
[[gnu::flatten]] void normalize(const void* x, void* y, const float* mean, const float* scale, const float* shift,
                                std::int64_t rows, std::int64_t columns) {
  for_pieces(rows, columns, [=](std::int64_t row, std::int64_t count, std::int64_t column, auto registers, auto part) {
    constexpr int width = decltype(registers)::size;
    const T* p = static_cast<const T*>(x) + row * columns + column;
    T* to = static_cast<T*>(y) + row * columns + column;
    Floats values[width], m[width], s[width], t[width];
    load_row(mean + column, m, part);
    load_row(scale + column, s, part);
    load_row(shift + column, t, part);
    for (std::int64_t i = 0; i < count; ++i, p += columns, to += columns) {
      prefetch_columns(p + piece_rows * columns, width);
      load_row(p, values, part);
      for (int k = 0; k < width; ++k) store(to + k * lanes, multiply_add(values[k] - m[k], s[k], t[k]), part);
    }
  });
}

template <class T>
[[gnu::flatten]] void gradient_sums(const void* g, const void* x, const float* mean, std::int64_t rows,
                                    std::int64_t columns, double* sums, double* products) {
  for (std::int64_t i = 0; i < columns; ++i) sums[i] = products[i] = 0;
  for_pieces(rows, columns, [=](std::int64_t row, std::int64_t count, std::int64_t column, auto registers, auto part) {
    constexpr int width = decltype(registers)::size;
    const T* p = static_cast<const T*>(g) + row * columns + column;
    const T* q = static_cast<const T*>(x) + row * columns + column;
    Floats gradients[width], values[width], m[width], sum[width], product[width];
    load_row(mean + column, m, part);
    for (int k = 0; k < width; ++k) sum[k] = product[k] = Floats(0.0F);
    for (std::int64_t i = 0; i < count; ++i, p += columns, q += columns) {
      prefetch_columns(p + piece_rows * columns, width);
      prefetch_columns(q + piece_rows * columns, width);
      load_row(p, gradients, part);
      load_row(q, values, part);
      for (int k = 0; k < width; ++k) {
        sum[k] += gradients[k];
        product[k] = multiply_add(gradients[k], values[k] - m[k], product[k]);
      }
    }
    for (int k = 0; k < width; ++k) {
      add_to(sums + column + k * lanes, sum[k], part);
      add_to(products + column + k * lanes, product[k], part);
    }
  });
}

template <class T>
[[gnu::flatten]] void gradient(const void* g, const void* x, void* dx, const float* mean, const float* from_g,
                               const float* from_x, const float* shift, std::int64_t rows, std::int64_t columns) {
  for_pieces(rows, columns, [=](std::int64_t row, std::int64_t count, std::int64_t column, auto registers, auto part) {
    constexpr int width = decltype(registers)::size;
    const T* p = static_cast<const T*>(g) + row * columns + column;
    const T* q = static_cast<const T*>(x) + row * columns + column;
    T* to = static_cast<T*>(dx) + row * columns + column;
    Floats gradients[width], values[width], m[width], a[width], b[width], t[width];
    load_row(mean + column, m, part);
    load_row(from_g + column, a, part);
    load_row(from_x + column, b, part);
    load_row(shift + column, t, part);
    for (std::int64_t i = 0; i < count; ++i, p += columns, q += columns, to += columns) {
      prefetch_columns(p + piece_rows * columns, width);
      prefetch_columns(q + piece_rows * columns, width);
      load_row(p, gradients, part);
      load_row(q, values, part);
      for (int k = 0; k < width; ++k) {
        const Floats rest = multiply_add(b[k], values[k] - m[k], t[k]);
        store(to + k * lanes, multiply_add(a[k], gradients[k], rest), part);
      }
    }
  });
}

}  // namespace

constexpr BatchNormFunctions batch_norm{{sample_mean<float>, sample_mean<bfloat16>, sample_mean<float16>},
                                        {sums_about<float>, sums_about<bfloat16>, sums_about<float16>},
                                        {normalize<float>, normalize<bfloat16>, normalize<float16>},
                                        {gradient_sums<float>, gradient_sums<bfloat16>, gradient_sums<float16>},
                                        {gradient<float>, gradient<bfloat16>, gradient<float16>}};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
