#include <mezzo/backends/xsimd/pool_windows.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// The divisor of the sum over a window.
[[gnu::always_inline]] inline Floats count_of(const PoolShape& shape, const Window& rows, const Window& columns,
                                              bool count_padding) {
  if (count_padding) return Floats(static_cast<float>(shape.vertical.window * shape.horizontal.window));
  if (rows.empty() || columns.empty()) return Floats(1.0F);
  return Floats(
      static_cast<float>((rows.places.end - rows.places.begin) * (columns.places.end - columns.places.begin)));
}

template <class T>
[[gnu::flatten]] void pool(const void* x, void* y, const PoolShape& shape, bool count_padding, Index begin, Index end) {
  const PoolShape s = shape;
  const Index row_size = s.horizontal.size * s.channels;
  for (Index row = begin; row < end; ++row) {
    const Window rows(s.vertical, row % s.vertical.out_size);
    const T* const image = static_cast<const T*>(x) + row / s.vertical.out_size * s.vertical.size * row_size;
    for (Index column = 0; column < s.horizontal.out_size; ++column) {
      const Window columns(s.horizontal, column);
      const Floats count = count_of(s, rows, columns, count_padding);
      T* const to = static_cast<T*>(y) + (row * s.horizontal.out_size + column) * s.channels;
      for_registers(0, s.channels, [&](Index c, auto part) {
        Floats sum(0.0F);
        for (Index i = rows.places.begin; i < rows.places.end; ++i) {
          const T* p = image + (rows.start + i) * row_size + (columns.start + columns.places.begin) * s.channels + c;
          for (Index j = columns.places.begin; j < columns.places.end; ++j, p += s.channels) sum += load(p, part);
        }
        store(to + c, sum / count, part);
      });
    }
  }
}

template <class T>
[[gnu::flatten]] void gradient(const void* g, void* dx, const PoolShape& shape, bool count_padding, Index begin,
                               Index end) {
  const PoolShape s = shape;
  const PoolAxis &down = s.vertical, &across = s.horizontal;
  for (Index row = begin; row < end; ++row) {
    Range rows{0, 0}, columns{0, 0};
    advance(rows, down, row % down.size);
    const T* const image = static_cast<const T*>(g) + row / down.size * down.out_size * across.out_size * s.channels;
    for (Index w = 0; w < across.size; ++w) {
      advance(columns, across, w);
      T* const to = static_cast<T*>(dx) + (row * across.size + w) * s.channels;
      for_registers(0, s.channels, [&](Index c, auto part) {
        Floats sum(0.0F);
        for (Index i = rows.begin; i < rows.end; ++i) {
          for (Index j = columns.begin; j < columns.end; ++j) {
            const Floats count = count_of(s, Window(down, i), Window(across, j), count_padding);
            sum += load(image + (i * across.out_size + j) * s.channels + c, part) / count;
          }
        }
        store(to + c, sum, part);
      });
    }
  }
}

}  // namespace

constexpr AvgPool2dFunctions avg_pool2d{
    .pool = {.float32 = pool<float>, .bfloat16 = pool<bfloat16>, .float16 = pool<float16>},
    .gradient = {.float32 = gradient<float>, .bfloat16 = gradient<bfloat16>, .float16 = gradient<float16>},
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
