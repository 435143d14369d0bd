#include <mezzo/backends/xsimd/few_rows.hpp>

#include <mezzo/backends/xsimd/vector.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

using Index = std::int64_t;

/// Adds the products of `count` columns of a, from k on, with rows of b to the sums. Each sum is loaded once.
template <int rows, int count, class T>
[[gnu::always_inline]] inline void add_products(const FewRows& p, Index k) {
  Floats factors[rows * count];
  for (int row = 0; row < rows; ++row) {
    for (int i = 0; i < count; ++i) factors[row * count + i] = Floats(p.a[row * p.depth + k + i]);
  }
  const T* const b = static_cast<const T*>(p.b) + k * p.b_width;
  for_registers(0, p.columns, [&](Index column, auto part) {
    Floats sums[rows];
    for (int row = 0; row < rows; ++row) sums[row] = load(p.sums + row * p.columns + column, part);
    for (int i = 0; i < count; ++i) {
      const Floats weight = load(b + i * p.b_width + column, part);
      for (int row = 0; row < rows; ++row) sums[row] = multiply_add(factors[row * count + i], weight, sums[row]);
    }
    for (int row = 0; row < rows; ++row) store(p.sums + row * p.columns + column, sums[row], part);
  });
}

template <int rows, class T>
[[gnu::always_inline]] inline void multiply_plain(const FewRows& p) {
  constexpr int group = 8;
  for_registers(0, rows * p.columns, [&](Index i, auto part) { store(p.sums + i, Floats(0.0F), part); });
  Index k = 0;
  for (; k + group <= p.depth; k += group) add_products<rows, group, T>(p, k);
  for (; k < p.depth; ++k) add_products<rows, 1, T>(p, k);
}

/// The sums of `count` columns, whose numbers are rows of b.
template <int rows, int count, class T>
[[gnu::always_inline]] inline void multiply_columns(const FewRows& p, Index column) {
  Floats sums[rows * count];
  for (int i = 0; i < rows * count; ++i) sums[i] = Floats(0.0F);
  const T* const b = static_cast<const T*>(p.b) + column * p.b_width;
  for_registers(0, p.depth, [&](Index k, auto part) {
    Floats weights[count];
    for (int i = 0; i < count; ++i) weights[i] = load(b + i * p.b_width + k, part);
    for (int row = 0; row < rows; ++row) {
      const Floats number = load(p.a + row * p.depth + k, part);
      for (int i = 0; i < count; ++i) sums[row * count + i] = multiply_add(number, weights[i], sums[row * count + i]);
    }
  });
  for (int row = 0; row < rows; ++row) {
    for (int i = 0; i < count; ++i) p.sums[row * p.columns + column + i] = sum_lanes(sums[row * count + i]);
  }
}

template <int rows, class T>
[[gnu::always_inline]] inline void multiply_transposed(const FewRows& p) {
  constexpr int count = rows > 4 ? 2 : 4;
  Index column = 0;
  for (; column + count <= p.columns; column += count) multiply_columns<rows, count, T>(p, column);
  for (; column < p.columns; ++column) multiply_columns<rows, 1, T>(p, column);
}

template <class T>
[[gnu::always_inline]] inline void finish(const FewRows& p) {
  for (Index row = 0; row < p.rows; ++row) {
    const float* const sums = p.sums + row * p.columns;
    T* const out = static_cast<T*>(p.out) + row * p.out_width;
    for_registers(0, p.columns, [&](Index i, auto part) {
      Floats y = load(sums + i, part);
      if (p.bias != nullptr) {
        y += p.float32_bias ? load(static_cast<const float*>(p.bias) + i, part)
                            : load(static_cast<const T*>(p.bias) + i, part);
      }
      store(out + i, y, part);
    });
  }
}

template <int rows, bool transposed, class T>
[[gnu::flatten]] void multiply(const FewRows& p) {
  if constexpr (transposed) {
    multiply_transposed<rows, T>(p);
  } else {
    multiply_plain<rows, T>(p);
  }
}

template <bool transposed, class T, int rows = 1>
void product(const FewRows& p) {
  if constexpr (rows < FewRows::most_rows) {
    if (p.rows != rows) return product<transposed, T, rows + 1>(p);
  }
  multiply<rows, transposed, T>(p);
  finish<T>(p);
}

}  // namespace

constexpr FewRowsFunctions few_rows{
    .plain = {.float32 = product<false, float>,
              .bfloat16 = product<false, bfloat16>,
              .float16 = product<false, float16>},
    .transposed = {.float32 = product<true, float>,
                   .bfloat16 = product<true, bfloat16>,
                   .float16 = product<true, float16>},
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
