#include <mezzo/backends/xsimd/int8/int8_products.hpp>

#include <algorithm>
#include <limits>
#include <type_traits>

#include <mezzo/backends/xsimd/int8/code_scale.hpp>
#include <mezzo/backends/xsimd/prefetch.hpp>
#include <mezzo/backends/xsimd/row_pointers.hpp>

#if defined(__AVX512BW__)
#include <mezzo/backends/xsimd/int8/byte_rows.hpp>
#include <mezzo/backends/xsimd/int8/vector_bytes.hpp>
#endif

namespace mezzo::xsimd_kernels::MEZZO_ISA {
#if defined(__AVX512BW__)
namespace {

using Index = std::int64_t;

/// Registers of a block: byte_rows x 2 for the sums, two for the panel and one for a word of a row, out of 32.
constexpr int byte_registers = 2;
constexpr Index panel_columns = byte_registers * lanes, panel_bytes = 4 * panel_columns;

/// Codes of a row, and -128 times their sum.
template <bool clips, class T>
[[gnu::always_inline]] inline std::int32_t quantize_row(const T* row, Index depth, float factor, std::int8_t* to) {
  const IntRegister ones = Ints(0x01010101).data;
  const Floats inverse(factor);
  IntRegister sum = Ints(0).data;
  const auto add = [&](Index k, IntRegister codes) {
    sum = add_byte_products(sum, ones, codes);
    store_bytes_register(to + k, codes);
  };
  Index k = 0;
  for (; k + register_bytes <= depth; k += register_bytes) add(k, codes_of<clips>(row + k, register_bytes, inverse));
  if (k < depth) add(k, codes_of<clips>(row + k, depth - k, inverse));
  return -128 * sum_of_lanes(sum);
}

template <class T>
[[gnu::flatten]] void quantize_rows(const RowsToCodes& p) {
  float* scales = p.scales;
  std::int32_t* starts = p.starts;
  for (Index i = 0; i < p.rows; ++i) {
    std::int8_t* to = p.to + i * p.pitch;
    for (Index k = 0; k < p.depth; k += p.group, to += p.next_group) {
      const T* const from = static_cast<const T*>(p.from) + i * p.width + k;
      const Index count = std::min(p.group, p.depth - k);
      CodeScale scale = code_scale(largest_magnitude(from, count), p.epsilon);
      if (p.factor != 0 && scale.inverse > 0) scale = {1 / p.factor, p.factor};
      *scales++ = scale.scale;
      *starts++ = p.factor != 0 ? quantize_row<true>(from, count, scale.inverse, to)
                                : quantize_row<false>(from, count, scale.inverse, to);
    }
  }
}

/// Panels that are quantized together, so that rows are read in long pieces.
constexpr Index band_panels = 16, band_columns = band_panels * panel_columns;

static_assert(panel_columns == 2 * lanes, "a register of bfloat16 numbers has the columns of a panel");

/// Scales and inverses of a register of columns: those of code_scale().
[[gnu::always_inline]] inline void code_scales(const std::int32_t* magnitudes, float* scales, float* inverses) {
  const Ints bits = load_ints(magnitudes, Whole{});
  const IntMask finite = bits < Ints(0x7f800000);
  const Floats largest = xsimd::max(as_floats(bits.data), Floats(0x1p-119F)), steps(127.0F);
  store(scales, choose(finite, largest / steps, Floats(std::numeric_limits<float>::quiet_NaN())), Whole{});
  store(inverses, choose(finite, steps / largest, Floats(0.0F)), Whole{});
}

/// The largest magnitudes of columns, as bits. `columns` are those from `from` on.
[[gnu::always_inline]] inline void largest_of_columns(const PanelsToCodes& p, const float* from, Index columns,
                                                      std::int32_t* largest) {
  std::fill_n(largest, band_columns, 0);
  const auto compare = [&](Index k, auto count) {
    for_registers(0, columns, [&](Index j, auto part) {
      Ints most = load_ints(largest + j, Whole{});
      for (int i = 0; i < count; ++i) most = xsimd::max(most, magnitude_bits(load(from + (k + i) * p.width + j, part)));
      store_bytes_register(largest + j, most.data);
    });
  };
  Index k = 0;
  for (; k + 4 <= p.depth; k += 4) compare(k, std::integral_constant<int, 4>{});
  for (; k < p.depth; ++k) compare(k, std::integral_constant<int, 1>{});
}

[[gnu::always_inline]] inline void largest_of_columns(const PanelsToCodes& p, const bfloat16* from, Index columns,
                                                      std::int32_t* largest) {
  alignas(64) std::uint16_t magnitudes[band_columns] = {};
  const auto compare = [&](Index k, auto count) {
    for (Index j = 0; j < columns; j += panel_columns) {
      IntRegister most = load_bytes(magnitudes + j);
      for (int i = 0; i < count; ++i) {
        most = larger_halves(most, half_magnitudes(load_halves(from + (k + i) * p.width + j, columns - j)));
      }
      store_bytes_register(magnitudes + j, most);
    }
  };
  Index k = 0;
  for (; k + 4 <= p.depth; k += 4) compare(k, std::integral_constant<int, 4>{});
  for (; k < p.depth; ++k) compare(k, std::integral_constant<int, 1>{});
  for (Index j = 0; j < band_columns; ++j) largest[j] = static_cast<std::int32_t>(magnitudes[j]) << 16;
}

/// Packs `columns` columns of panels; codes(k, column, part) gives the codes of a register as ints.
template <class Codes>
[[gnu::always_inline]] inline void pack_band(std::uint8_t* to, Index pitch, Index depth, Index columns,
                                             const Codes& codes) {
  const auto pack = [&](Index k, Index column, int count, auto part) {
    IntRegister each[4];
    for (int i = 0; i < 4; ++i) each[i] = i < count ? codes(k + i, column, part) : Ints(0).data;
    store_bytes_register(to + column / panel_columns * pitch + k * panel_columns + column % panel_columns * 4,
                         join_bytes(each[0], each[1], each[2], each[3]));
  };
  const Index whole_depth = depth / 4 * 4, whole = columns / lanes * lanes,
              end = (columns + panel_columns - 1) / panel_columns * panel_columns;
  for (Index k = 0; k < depth; k += 4) {
    if (k < whole_depth) {
      for (Index column = 0; column < whole; column += lanes) pack(k, column, 4, Whole{});
    }
    for (Index column = k < whole_depth ? whole : 0; column < end; column += lanes) {
      pack(k, column, static_cast<int>(std::min<Index>(4, depth - k)),
           first_lanes(std::clamp<Index>(columns - column, 0, lanes)));
    }
  }
}

[[gnu::always_inline]] inline void quantize_band(const PanelsToCodes& p, const float* from, Index columns,
                                                 const float* inverses, std::uint8_t* to) {
  pack_band(to, p.pitch, p.depth, columns, [&](Index k, Index column, auto part) {
    return round_to_ints(load(from + k * p.width + column, part) * load(inverses + column, Whole{}));
  });
}

[[gnu::always_inline]] inline void quantize_band(const PanelsToCodes& p, const bfloat16* from, Index columns,
                                                 const float* inverses, std::uint8_t* to) {
  // Registers are split into columns at even and at odd places, whose codes are joined again.
  alignas(64) float of_even[band_columns / 2], of_odd[band_columns / 2];
  for (Index j = 0; j < columns; j += panel_columns) {
    for (Index i = j; i < j + panel_columns; i += 2) {
      of_even[i / 2] = inverses[i];
      of_odd[i / 2] = inverses[i + 1];
    }
  }
  const auto pack = [&](Index k, Index column, auto count) {
    const Floats even_inverses = load(of_even + column / 2, Whole{}), odd_inverses = load(of_odd + column / 2, Whole{});
    IntRegister even[4], odd[4];
    for (int i = 0; i < 4; ++i) {
      const IntRegister x = i < count ? load_halves(from + (k + i) * p.width + column, columns - column) : Ints(0).data;
      even[i] = round_to_ints(even_halves(x) * even_inverses);
      odd[i] = round_to_ints(odd_halves(x) * odd_inverses);
    }
    IntRegister low = join_bytes(even[0], even[1], even[2], even[3]);
    IntRegister high = join_bytes(odd[0], odd[1], odd[2], odd[3]);
    join_lanes(low, high);
    std::uint8_t* const at = to + column / panel_columns * p.pitch + k * panel_columns;
    store_bytes_register(at, low);
    store_bytes_register(at + register_bytes, high);
  };
  const Index whole_depth = p.depth / 4 * 4;
  for (Index k = 0; k < whole_depth; k += 4) {
    for (Index column = 0; column < columns; column += panel_columns) pack(k, column, std::integral_constant<int, 4>{});
  }
  if (whole_depth == p.depth) return;
  for (Index column = 0; column < columns; column += panel_columns) pack(whole_depth, column, p.depth - whole_depth);
}

template <class T>
[[gnu::flatten]] void quantize_panels(const PanelsToCodes& p) {
  for (Index panel = p.first; panel < p.last; panel += band_panels) {
    const Index first = panel * panel_columns, end = std::min(p.columns, p.last * panel_columns);
    const Index columns = std::min(band_columns, end - first);
    const T* const from = static_cast<const T*>(p.from) + first;
    alignas(64) std::int32_t largest[band_columns];
    alignas(64) float inverses[band_columns];
    largest_of_columns(p, from, columns, largest);
    for (Index j = 0; j < columns; j += panel_columns) {
      for (Index i = j; i < j + panel_columns; i += lanes) code_scales(largest + i, p.scales + first + i, inverses + i);
    }
    quantize_band(p, from, columns, inverses, p.to + panel * p.pitch);
  }
}

[[gnu::flatten]] void pack_codes(const PanelsToCodes& p) {
  for (Index panel = p.first; panel < p.last; panel += band_panels) {
    const Index first = panel * panel_columns, end = std::min(p.columns, p.last * panel_columns);
    const std::int8_t* const from = static_cast<const std::int8_t*>(p.from) + first;
    pack_band(p.to + panel * p.pitch, p.pitch, p.depth, std::min(band_columns, end - first),
              [&](Index k, Index column, auto part) { return load_codes(from + k * p.width + column, part); });
  }
}

/// Packs `columns` columns, at most `lanes`, each of which is a row in memory; codes(column, k) gives the codes of a
/// register of places from k on.
template <class Codes>
[[gnu::always_inline]] inline void pack_transposed(std::uint8_t* to, Index depth, Index columns, const Codes& codes) {
  const Index words = (depth + 3) / 4;
  for (Index word = 0; word < words; word += lanes) {
    Floats square[lanes];
    for (Index j = 0; j < lanes; ++j) square[j] = j < columns ? as_floats(codes(j, 4 * word)) : Floats(0.0F);
    transpose(square);
    const Index count = std::min<Index>(lanes, words - word);
    for (Index i = 0; i < count; ++i) {
      store_bytes_register(to + (word + i) * panel_bytes, flip_signs(as_ints(square[i])));
    }
  }
}

/// Calls body(first column, number of columns, place of their codes) for each register of the panels.
template <class Body>
[[gnu::always_inline]] inline void for_panel_registers(const PanelsToCodes& p, const Body& body) {
  for (Index panel = p.first; panel < p.last; ++panel) {
    for (int j = 0; j < byte_registers; ++j) {
      const Index first = panel * panel_columns + j * lanes;
      body(first, std::clamp<Index>(p.columns - first, 0, lanes), p.to + panel * p.pitch + j * register_bytes);
    }
  }
}

template <class T>
[[gnu::flatten]] void quantize_transposed_panels(const PanelsToCodes& p) {
  for_panel_registers(p, [&](Index first, Index columns, std::uint8_t* to) {
    const T* const from = static_cast<const T*>(p.from) + first * p.width;
    std::int32_t largest[lanes];
    float inverses[lanes];
    for (Index j = 0; j < lanes; ++j) largest[j] = j < columns ? largest_magnitude(from + j * p.width, p.depth) : 0;
    code_scales(largest, p.scales + first, inverses);
    pack_transposed(to, p.depth, columns, [&](Index j, Index k) {
      const T* const row = from + j * p.width + k;
      const Floats inverse(inverses[j]);
      return p.depth - k >= register_bytes ? codes_of(row, register_bytes, inverse)
                                           : codes_of(row, p.depth - k, inverse);
    });
  });
}

[[gnu::flatten]] void pack_transposed_codes(const PanelsToCodes& p) {
  for_panel_registers(p, [&](Index first, Index columns, std::uint8_t* to) {
    const std::int8_t* const from = static_cast<const std::int8_t*>(p.from) + first * p.width;
    pack_transposed(to, p.depth, columns,
                    [&](Index j, Index k) { return load_bytes(from + j * p.width + k, p.depth - k); });
  });
}

/// A bias that changes no number: -0 + -0 is -0.
struct NoBias {
  alignas(64) float numbers[panel_columns] = {};

  constexpr NoBias() {
    for (float& x : numbers) x = -0.0F;
  }
};
constexpr NoBias no_bias;

/// Writes rows of a product with one group and a whole panel if no result is a denormal. It has no branches, so that
/// sums stay in registers.
template <class T, int rows>
[[gnu::always_inline]] inline void finish_whole(const ByteProduct& p, Index first,
                                                const IntRegister (&sums)[rows][byte_registers]) {
  const float* const bias = p.bias == nullptr ? no_bias.numbers : p.bias;
  const Floats least(p.relu ? 0.0F : -std::numeric_limits<float>::infinity());
  T* out = static_cast<T*>(p.out) + first * p.out_width;
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i, out += p.out_width) {
    const Floats row_scale(p.row_scales[first + i]);
    Floats y[byte_registers];
    for (int j = 0; j < byte_registers; ++j) {
      y[j] = to_floats(sums[i][j]) * row_scale * load(p.column_scales + j * lanes, Whole{});
      // max returns its second operand if one is NaN.
      y[j] = xsimd::max(least, y[j] + load(bias + j * lanes, Whole{}));
    }
    store_two(out, y[0], y[1]);
  }
}

template <class T, int registers>
[[gnu::always_inline]] inline void finish_row(const ByteProduct& p, Index i, const IntRegister (&sums)[registers]) {
  T* const out = static_cast<T*>(p.out) + i * p.out_width;
  const Floats row_scale(p.row_scales[i * p.next_row]);
  const auto part_of = [&](int j) { return p.parts + i * panel_columns + j * lanes; };
  const auto sum_of_groups = [&](int j) {
    Floats y = to_floats(sums[j]) * row_scale * load(p.column_scales + j * lanes, Whole{});
    if (!p.first) y = load(part_of(j), Whole{}) + y;
    return y;
  };
  if (!p.last) {
    for (int j = 0; j < registers; ++j) store(part_of(j), sum_of_groups(j), Whole{});
    return;
  }
  const auto finish = [&](int j, auto part) {
    Floats y = sum_of_groups(j);
    if (p.bias != nullptr) y += load(p.bias + j * lanes, Whole{});
    if (p.relu) y = xsimd::max(Floats(0.0F), y);
    store(out + j * lanes, y, part);
  };
  for (int j = 0; j + 1 < registers; ++j) finish(j, Whole{});
  finish(registers - 1, first_lanes(p.columns - (registers - 1) * lanes));
}

/// Some rows of the product, from `first` on.
template <class T, int rows, int registers, bool whole>
[[gnu::always_inline]] inline void byte_block(const ByteProduct& p, Index first) {
  IntRegister sums[rows][registers];
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < registers; ++j) sums[i][j] = Ints(p.starts[(first + i) * p.next_row]).data;
  }
  // Four codes are moved as a float.
  RowPointers<rows> row(reinterpret_cast<const float*>(p.a + first * p.a_pitch), p.a_pitch / 4);
  const std::uint8_t* panel = p.panel;
  const auto multiply = [&] {
    IntRegister bytes[registers];
    for (int j = 0; j < registers; ++j) bytes[j] = load_bytes(panel + j * register_bytes);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const IntRegister codes = as_ints(Floats(row.at(i)));
      for (int j = 0; j < registers; ++j) sums[i][j] = add_byte_products(sums[i][j], bytes[j], codes);
    }
    row.advance(1);
    panel += panel_bytes;
  };
  Index word = 0;
  if (p.ahead != nullptr) {
    PiecesAhead ahead = *p.ahead;
    for (const Index end = std::min({p.words, ahead.lines, ahead.of_turn}); word < end; ++word) {
      fetch_to_second_level(ahead.take());
      multiply();
    }
    *p.ahead = ahead;
  }
  for (; word < p.words; ++word) multiply();
  if constexpr (whole) {
    finish_whole<T>(p, first, sums);
  } else {
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) finish_row<T, registers>(p, first + i, sums[i]);
  }
}

template <class T, int registers, bool whole>
[[gnu::flatten]] void panel_product(const ByteProduct& product) {
  const ByteProduct p = product;  // which no store changes
  for_blocks_of_rows<byte_rows>(
      p.rows, [&](auto rows, Index first) { byte_block<T, decltype(rows)::value, registers, whole>(p, first); });
}

template <class T>
void byte_product(const ByteProduct& p) {
  if (p.columns == panel_columns && p.first && p.last && flushes_denormals()) {
    panel_product<T, byte_registers, true>(p);
  } else if (p.columns > lanes) {
    panel_product<T, byte_registers, false>(p);
  } else {
    panel_product<T, 1, false>(p);
  }
}

}  // namespace

constexpr Int8Functions int8_products{
    .quantize_rows = {quantize_rows<float>, quantize_rows<bfloat16>},
    .quantize_panels = {quantize_panels<float>, quantize_panels<bfloat16>},
    .quantize_transposed_panels = {quantize_transposed_panels<float>, quantize_transposed_panels<bfloat16>},
    .pack_codes = pack_codes,
    .pack_transposed_codes = pack_transposed_codes,
    .product = {byte_product<float>, byte_product<bfloat16>},
    .panel = panel_columns,
};
#else
constexpr Int8Functions int8_products{};
#endif

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
