#include <type_traits>

#include <mezzo/backends/xsimd/pool_windows.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// Stores the maximum of one window to y and the maximum's row-major position in the window to `places`, for one
/// register of channels. x points to these channels in the first pixel of the image. Among equal elements, the first is
/// taken. A NaN is greater than all numbers, and the first NaN is taken. The result for a window outside of the image
/// is -infinity and position 0.
template <class T, class Some>
[[gnu::always_inline]] inline void pool_window(const T* x, const PoolShape& shape, const Window& rows,
                                               const Window& columns, T* y, std::uint8_t* places, Some part) {
  const PoolAxis& across = shape.horizontal;
  const Floats one(1.0F);
  Floats best(-__builtin_inff());
  // Positions are floats because select() needs a mask and operands of one type. They are exact: at most 255.
  Floats place(0.0F);
  if (!rows.empty() && !columns.empty()) {
    place = Floats(static_cast<float>(rows.places.begin * across.window + columns.places.begin));
  }
  Floats here = place;
  const Floats to_next_row(static_cast<float>(across.window - (columns.places.end - columns.places.begin)));
  for (Index i = rows.places.begin; i < rows.places.end; ++i, here += to_next_row) {
    const T* p = x + ((rows.start + i) * across.size + columns.start + columns.places.begin) * shape.channels;
    for (Index j = columns.places.begin; j < columns.places.end; ++j, here += one, p += shape.channels) {
      __builtin_prefetch(reinterpret_cast<const char*>(p) + 1024);  // no effect past the end of the array
      const Floats value = load(p, part);
      const Mask above = !(value <= best) & (best == best);
      best = xsimd::select(above, value, best);
      place = xsimd::select(above, here, place);
    }
  }
  store(y, best, part);
  store_bytes(places, xsimd::to_int(place), part);
}

template <class T>
[[gnu::flatten]] void pool(const void* x, void* y, std::uint8_t* places, const PoolShape& shape, Index begin,
                           Index end) {
  const PoolShape s = shape;
  for (Index row = begin; row < end; ++row) {
    const Window rows(s.vertical, row % s.vertical.out_size);
    const Index image = row / s.vertical.out_size * s.vertical.size * s.horizontal.size * s.channels;
    for (Index column = 0; column < s.horizontal.out_size; ++column) {
      const Window columns(s.horizontal, column);
      const Index to = (row * s.horizontal.out_size + column) * s.channels;
      for_registers(0, s.channels, [&](Index c, auto part) {
        pool_window(static_cast<const T*>(x) + image + c, s, rows, columns, static_cast<T*>(y) + to + c,
                    places + to + c, part);
      });
    }
  }
}

/// Gradient of one pixel of the image for one register of channels: the sum of g over the windows whose maximum is at
/// the pixel. `vertical` times `horizontal` windows contain the pixel. g and `places` point to the first of them, and
/// `place` is the row-major position of the pixel in that one.
template <class T, class Some>
[[gnu::always_inline]] inline Floats gather_windows(const T* g, const std::uint8_t* places, const PoolShape& shape,
                                                    Index vertical, Index horizontal, Index place, Some part) {
  Floats sum(0.0F);
  const Index to_next_row = shape.horizontal.out_size * shape.channels;
  for (; vertical > 0; --vertical, place -= shape.vertical.stride * shape.horizontal.window) {
    int here = static_cast<int>(place);
    Index at = 0;
    for (Index j = 0; j < horizontal; ++j, at += shape.channels, here -= static_cast<int>(shape.horizontal.stride)) {
      sum += choose(load_ints(places + at, part) == Ints(here), load(g + at, part), Floats(0.0F));
    }
    g += to_next_row;
    places += to_next_row;
  }
  return sum;
}

/// A register of cotangents with their places.
template <class T>
struct AtPlaces {
  template <class Some>
  [[gnu::always_inline]] AtPlaces(const T* g, const std::uint8_t* from, Some part)
      : cotangents(load(g, part)), places(load_ints(from, part)) {}

  /// Stores the cotangents of that place, and zeros for the others.
  template <class Some>
  [[gnu::always_inline]] void store_at(int place, T* to, Some part) const {
    store(to, choose(places == Ints(place), cotangents, Floats(0.0F)), part);
  }

  Floats cotangents;
  Ints places;
};

#if defined(__AVX512BW__)
/// The same for numbers of 16 bits, which are copied as they are.
template <class T>
struct HalvesAtPlaces {
  [[gnu::always_inline]] HalvesAtPlaces(const T* g, const std::uint8_t* from, Whole)
      : cotangents(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(g))),
        places(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))) {}
  [[gnu::always_inline]] HalvesAtPlaces(const T* g, const std::uint8_t* from, Part part)
      : cotangents(_mm256_maskz_loadu_epi16(part.mask, g)), places(_mm_maskz_loadu_epi8(part.mask, from)) {}

  [[gnu::always_inline]] __m256i at(int place) const {
    return _mm256_maskz_mov_epi16(_mm_cmpeq_epi8_mask(places, _mm_set1_epi8(static_cast<char>(place))), cotangents);
  }
  [[gnu::always_inline]] void store_at(int place, T* to, Whole) const {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), at(place));
  }
  [[gnu::always_inline]] void store_at(int place, T* to, Part part) const {
    _mm256_mask_storeu_epi16(to, part.mask, at(place));
  }

  __m256i cotangents;
  __m128i places;
};
template <class T>
using Cotangents = std::conditional_t<sizeof(T) == 2, HalvesAtPlaces<T>, AtPlaces<T>>;
#else
template <class T>
using Cotangents = AtPlaces<T>;
#endif

/// Gradients of the pixels of a row that window `row` of the output contains, if no windows overlap: each window is
/// read once for all its pixels. h: the row of the image.
template <class T>
[[gnu::always_inline]] inline void scatter_row(const T* g, const std::uint8_t* places, T* dx, const PoolShape& s,
                                               Index h) {
  const PoolAxis &down = s.vertical, &across = s.horizontal;
  const Index row = (h + down.padding) / down.stride, i = (h + down.padding) % down.stride;
  const bool inside = row < down.out_size && i < down.window;
  if (!inside || across.stride > across.window || across.padding > 0 || across.out_size * across.stride < across.size) {
    for_registers(0, across.size * s.channels, [&](Index c, auto part) { store(dx + c, Floats(0.0F), part); });
  }
  if (!inside) return;
  const T* from = g + row * across.out_size * s.channels;
  const std::uint8_t* place = places + row * across.out_size * s.channels;
  for (Index column = 0; column < across.out_size; ++column, from += s.channels, place += s.channels) {
    const Window columns(across, column);
    T* const to = dx + columns.start * s.channels;
    for_registers(0, s.channels, [&](Index c, auto part) {
      const Cotangents<T> cotangents(from + c, place + c, part);
      for (Index j = columns.places.begin; j < columns.places.end; ++j) {
        cotangents.store_at(static_cast<int>(i * across.window + j), to + j * s.channels + c, part);
      }
    });
  }
}

template <class T>
[[gnu::flatten]] void gradient(const void* g, const std::uint8_t* places, void* dx, const PoolShape& shape, Index begin,
                               Index end) {
  const PoolShape s = shape;
  if (s.vertical.stride >= s.vertical.window && s.horizontal.stride >= s.horizontal.window) {
    const Index outputs = s.vertical.out_size * s.horizontal.out_size * s.channels;
    for (Index row = begin; row < end; ++row) {
      const Index image = row / s.vertical.size;
      scatter_row(static_cast<const T*>(g) + image * outputs, places + image * outputs,
                  static_cast<T*>(dx) + row * s.horizontal.size * s.channels, s, row % s.vertical.size);
    }
    return;
  }
  const PoolAxis &down = s.vertical, &across = s.horizontal;
  for (Index row = begin; row < end; ++row) {
    const Index h = row % down.size;
    Range rows{0, 0}, columns{0, 0};
    advance(rows, down, h);
    const Index first_row = row / down.size * down.out_size + rows.begin;
    const Index place_row = (h + down.padding - rows.begin * down.stride) * across.window;
    for (Index w = 0; w < across.size; ++w) {
      advance(columns, across, w);
      const Index from = (first_row * across.out_size + columns.begin) * s.channels;
      const Index place = place_row + w + across.padding - columns.begin * across.stride;
      T* const to = static_cast<T*>(dx) + (row * across.size + w) * s.channels;
      for_registers(0, s.channels, [&](Index c, auto part) {
        const T* const p = static_cast<const T*>(g) + from + c;
        store(to + c,
              gather_windows(p, places + from + c, s, rows.end - rows.begin, columns.end - columns.begin, place, part),
              part);
      });
    }
  }
}

}  // namespace

constexpr MaxPool2dFunctions max_pool2d{
    .pool = {.float32 = pool<float>, .bfloat16 = pool<bfloat16>, .float16 = pool<float16>},
    .gradient = {.float32 = gradient<float>, .bfloat16 = gradient<bfloat16>, .float16 = gradient<float16>},
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
