#include <mezzo/backends/xsimd/batch_norm.hpp>
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

template <class T, bool adds>
[[gnu::flatten]] void normalize_rows(const void* x, const void* residual, void* y, const float* mean,
                                     const float* scale, const float* shift, float least, std::int64_t rows,
                                     std::int64_t columns) {
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
        store(to + k * lanes, xsimd::max(Floats(least), value), part);  // max gives its second operand if one is NaN
      }
    }
  });
}

template <class T>
void normalize(const void* x, const void* residual, void* y, const float* mean, const float* scale, const float* shift,
               float least, std::int64_t rows, std::int64_t columns) {
  const auto function = residual != nullptr ? normalize_rows<T, true> : normalize_rows<T, false>;
  function(x, residual, y, mean, scale, shift, least, rows, columns);
}

template <class T, bool masks, bool keeps>
[[gnu::flatten]] void sums_of_gradients(const void* g, const void* y, const void* x, const float* mean, void* masked,
                                        std::int64_t rows, std::int64_t columns, double* sums, double* products) {
  for (std::int64_t i = 0; i < columns; ++i) sums[i] = products[i] = 0;
  for_pieces(rows, columns, [=](std::int64_t row, std::int64_t count, std::int64_t column, auto registers, auto part) {
    constexpr int width = decltype(registers)::size;
    const std::int64_t first = row * columns + column;
    const T* p = static_cast<const T*>(g) + first;
    const T* q = static_cast<const T*>(x) + first;
    const T* r = masks ? static_cast<const T*>(y) + first : nullptr;
    T* to = keeps ? static_cast<T*>(masked) + first : nullptr;
    Floats gradients[width], values[width], m[width], sum[width], product[width];
    load_row(mean + column, m, part);
    for (int k = 0; k < width; ++k) sum[k] = product[k] = Floats(0.0F);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t at = i * columns, ahead = at + piece_rows * columns;
      prefetch_columns(p + ahead, width);
      prefetch_columns(q + ahead, width);
      if constexpr (masks) prefetch_columns(r + ahead, width);
      load_gradients<masks>(p + at, masks ? r + at : nullptr, gradients, part);
      load_row(q + at, values, part);
      for (int k = 0; k < width; ++k) {
        if constexpr (keeps) store(to + at + k * lanes, gradients[k], part);
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
void gradient_sums(const void* g, const void* y, const void* x, const float* mean, void* masked, std::int64_t rows,
                   std::int64_t columns, double* sums, double* products) {
  const auto function = y == nullptr        ? sums_of_gradients<T, false, false>
                        : masked == nullptr ? sums_of_gradients<T, true, false>
                                            : sums_of_gradients<T, true, true>;
  function(g, y, x, mean, masked, rows, columns, sums, products);
}

template <class T, bool masks>
[[gnu::flatten]] void gradient_rows(const void* g, const void* y, const void* x, void* dx, const float* mean,
                                    const float* from_g, const float* from_x, const float* shift, std::int64_t rows,
                                    std::int64_t columns) {
  for_pieces(rows, columns, [=](std::int64_t row, std::int64_t count, std::int64_t column, auto registers, auto part) {
    constexpr int width = decltype(registers)::size;
    const std::int64_t first = row * columns + column;
    const T* p = static_cast<const T*>(g) + first;
    const T* q = static_cast<const T*>(x) + first;
    const T* r = masks ? static_cast<const T*>(y) + first : nullptr;
    T* to = static_cast<T*>(dx) + first;
    Floats gradients[width], values[width], m[width], a[width], b[width], t[width];
    load_row(mean + column, m, part);
    load_row(from_g + column, a, part);
    load_row(from_x + column, b, part);
    load_row(shift + column, t, part);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t at = i * columns, ahead = at + piece_rows * columns;
      prefetch_columns(p + ahead, width);
      prefetch_columns(q + ahead, width);
      if constexpr (masks) prefetch_columns(r + ahead, width);
      load_gradients<masks>(p + at, masks ? r + at : nullptr, gradients, part);
      load_row(q + at, values, part);
      for (int k = 0; k < width; ++k) {
        const Floats rest = multiply_add(b[k], values[k] - m[k], t[k]);
        store(to + at + k * lanes, multiply_add(a[k], gradients[k], rest), part);
      }
    }
  });
}

template <class T>
void gradient(const void* g, const void* y, const void* x, void* dx, const float* mean, const float* from_g,
              const float* from_x, const float* shift, std::int64_t rows, std::int64_t columns) {
  const auto function = y != nullptr ? gradient_rows<T, true> : gradient_rows<T, false>;
  function(g, y, x, dx, mean, from_g, from_x, shift, rows, columns);
}

}  // namespace

constexpr BatchNormFunctions batch_norm{
    .sample_mean = {.float32 = sample_mean<float>, .bfloat16 = sample_mean<bfloat16>, .float16 = sample_mean<float16>},
    .sums = {.float32 = sums_about<float>, .bfloat16 = sums_about<bfloat16>, .float16 = sums_about<float16>},
    .normalize = {.float32 = normalize<float>, .bfloat16 = normalize<bfloat16>, .float16 = normalize<float16>},
    .gradient_sums = {.float32 = gradient_sums<float>,
                      .bfloat16 = gradient_sums<bfloat16>,
                      .float16 = gradient_sums<float16>},
    .gradient = {.float32 = gradient<float>, .bfloat16 = gradient<bfloat16>, .float16 = gradient<float16>},
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
