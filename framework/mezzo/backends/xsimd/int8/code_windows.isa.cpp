#include <mezzo/backends/xsimd/int8/code_windows.hpp>

#include <algorithm>

#include <mezzo/backends/xsimd/row_pointers.hpp>

#if defined(__AVX512BW__)
#include <mezzo/backends/xsimd/int8/byte_rows.hpp>
#include <mezzo/backends/xsimd/int8/vector_bytes.hpp>
#endif

namespace mezzo::xsimd_kernels::MEZZO_ISA {
#if defined(__AVX512BW__)
namespace {

using Index = std::int64_t;

/// Registers of a block: most_window_rows x 2 for the sums, two for the panel and one for a word of a window, out of
/// 32.
constexpr int most_window_rows = 12, window_registers = 2;
constexpr Index window_panel_bytes = 4 * window_registers * lanes;

template <class T>
[[gnu::flatten]] std::int32_t largest_of(const void* from, Index count) {
  return largest_magnitude(static_cast<const T*>(from), count);
}

template <class T, bool clips>
[[gnu::always_inline]] inline void quantize_numbers(const NumbersToCodes& p) {
  const T* const from = static_cast<const T*>(p.from);
  const Floats inverse(p.inverse);
  Index k = 0;
  for (; k + register_bytes <= p.count; k += register_bytes) {
    store_bytes_register(p.to + k, codes_of<clips>(from + k, register_bytes, inverse));
  }
  if (k < p.count) store_bytes(p.to + k, codes_of<clips>(from + k, p.count - k, inverse), p.count - k);
}

template <class T>
[[gnu::flatten]] void quantize(const NumbersToCodes& p) {
  p.clips ? quantize_numbers<T, true>(p) : quantize_numbers<T, false>(p);
}

[[gnu::flatten]] void sums_of_pixels(const std::int8_t* codes, Index pixels, Index channels, std::int32_t* sums) {
  const IntRegister ones = Ints(0x01010101).data;
  for (Index i = 0; i < pixels; ++i, codes += channels) {
    IntRegister sum = Ints(0).data;
    for (Index k = 0; k < channels; k += register_bytes) {
      sum = add_byte_products(sum, ones, load_bytes(codes + k, channels - k));
    }
    sums[i] = sum_of_lanes(sum);
  }
}

template <class T>
[[gnu::always_inline]] inline void finish(const WindowProduct& p, Index place, Index column, IntRegister sum,
                                          auto part) {
  Floats y =
      to_floats(sum) * Floats(p.scale) * load(p.column_scales + column, Whole{}) + load(p.bias + column, Whole{});
  if (p.residual != nullptr) y += load(static_cast<const T*>(p.residual) + place + column, part);
  // max and min return their second operand if one is NaN.
  y = xsimd::min(Floats(p.most), xsimd::max(Floats(p.least), y));
  store(static_cast<T*>(p.out) + place + column, y, part);
}

/// Some windows, from `first` on.
template <class T, int rows, int registers>
[[gnu::always_inline]] inline void window_block(const WindowProduct& p, Index first) {
  IntRegister sums[rows][registers];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < registers; ++j) sums[i][j] = Ints(p.starts[first + i]).data;
  }
  const std::uint8_t* panel = p.panel;
  for (Index segment = 0; segment < p.segments; ++segment) {
    for (Index tap = 0; tap < p.taps; ++tap) {
      const std::int8_t* const x = p.x + first * p.x_width + segment * p.x_segment + tap * p.x_tap;
      // Four codes are moved as a float.
      RowPointers<rows> row(reinterpret_cast<const float*>(x), p.x_width / 4);
      for (Index word = 0; word < p.words; ++word, panel += window_panel_bytes) {
        IntRegister bytes[registers];
        for (int j = 0; j < registers; ++j) bytes[j] = load_bytes(panel + j * register_bytes);
#pragma GCC unroll 16
        for (int i = 0; i < rows; ++i) {
          const IntRegister codes = as_ints(Floats(row.at(i)));
          for (int j = 0; j < registers; ++j) sums[i][j] = add_byte_products(sums[i][j], bytes[j], codes);
        }
        row.advance(1);
      }
    }
  }
  const Index last = p.columns - (registers - 1) * lanes;
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    const Index place = (first + i) * p.out_width;
    for (int j = 0; j < registers; ++j) {
      if (j + 1 < registers || last == lanes) {
        finish<T>(p, place, j * lanes, sums[i][j], Whole{});
      } else {
        finish<T>(p, place, j * lanes, sums[i][j], first_lanes(last));
      }
    }
  }
}

template <class T, int registers>
[[gnu::flatten]] void panel_of_windows(const WindowProduct& p) {
  for_blocks_of_rows<most_window_rows>(
      p.rows, [&](auto rows, Index first) { window_block<T, decltype(rows)::value, registers>(p, first); });
}

template <class T>
void window_product(const WindowProduct& p) {
  p.columns <= lanes ? panel_of_windows<T, 1>(p) : panel_of_windows<T, window_registers>(p);
}

}  // namespace

constexpr CodeWindowFunctions code_windows{
    .largest = {largest_of<float>, largest_of<bfloat16>},
    .quantize = {quantize<float>, quantize<bfloat16>},
    .sums = sums_of_pixels,
    .product = {window_product<float>, window_product<bfloat16>},
};
#else
constexpr CodeWindowFunctions code_windows{};
#endif

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
