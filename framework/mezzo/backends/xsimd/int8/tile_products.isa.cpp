#include <mezzo/backends/xsimd/int8/tile_products.hpp>

#include <algorithm>
#include <cstring>

#if defined(__AVX512BW__)
#include <mezzo/backends/xsimd/int8/code_scale.hpp>
#include <mezzo/backends/xsimd/int8/vector_bytes.hpp>
#include <mezzo/backends/xsimd/philox.hpp>
#endif

namespace mezzo::xsimd_kernels::MEZZO_ISA {
#if defined(__AVX512BW__)
namespace {

using Index = std::int64_t;

/// Sizes of a tile, in numbers, registers and bytes. A word has four rows.
constexpr Index tile_size = 32, tile_words = tile_size / 4, word_bytes = 4 * tile_size,
                tile_bytes = tile_size * tile_size;
constexpr int tile_registers = 2;
static_assert(tile_registers * lanes == tile_size);

/// A tile of a matrix in memory.
template <class T>
struct Tile {
  const T* from;
  Index width, rows, columns;

  Tile(const TilesToCodes& p, Index column)
      : from(static_cast<const T*>(p.from) + p.tile * tile_size * p.columns + column),
        width(p.columns),
        rows(std::min(tile_size, p.rows - p.tile * tile_size)),
        columns(std::clamp<Index>(p.columns - column, 0, tile_size)) {}

  /// Calls body(part) with Whole or the part of register `j` that the tile has.
  template <class Body>
  [[gnu::always_inline]] inline void with_part(int j, const Body& body) const {
    if (columns == tile_size) return body(Whole{});
    body(first_lanes(std::clamp<Index>(columns - j * lanes, 0, lanes)));
  }

  CodeScale scale() const {
    Ints largest(0);
    for (int j = 0; j < tile_registers; ++j) {
      with_part(j, [&](auto part) {
        for (Index m = 0; m < rows; ++m) {
          largest = xsimd::max(largest, magnitude_bits(load(from + m * width + j * lanes, part)));
        }
      });
    }
    return code_scale(largest_lane(largest), 0);
  }

  /// Codes plus 128 of four rows in register `j`. codes(number, i) gives those of row `i` of the word.
  template <class Codes>
  [[gnu::always_inline]] inline IntRegister word(Index index, int j, const Codes& codes) const {
    IntRegister each[4];
    with_part(j, [&](auto part) {
      for (int i = 0; i < 4; ++i) {
        const Index m = 4 * index + i;
        each[i] = m < rows ? codes(load(from + m * width + j * lanes, part), i) : Ints(0).data;
      }
    });
    return join_bytes(each[0], each[1], each[2], each[3]);
  }
};

Index tiles_in(Index rows) { return (rows + tile_size - 1) / tile_size; }

template <class T>
[[gnu::flatten]] void quantize_inputs(const TilesToCodes& p) {
  const Tile<T> tile(p, p.column);
  const CodeScale scale = tile.scale();
  const Index place = p.column / tile_size * tiles_in(p.rows) + p.tile;
  p.scales[place] = scale.scale;
  const Floats inverse(scale.inverse);
  std::uint8_t* const to = p.to + place * tile_bytes;
  for (Index word = 0; word < tile_words; ++word) {
    for (int j = 0; j < tile_registers; ++j) {
      store_bytes_register(to + word * word_bytes + j * register_bytes,
                           tile.word(word, j, [&](const Floats& x, int) { return round_to_ints(x * inverse); }));
    }
  }
}

/// floor(x + noise), with the noise of a byte: (byte + 0.5) / 256. x is at least -127.0001, so that no code is -128.
[[gnu::always_inline]] inline IntRegister round_stochastically(const Floats& x, const Words& word, int byte) {
  const Words bits = (word >> (8 * byte)) & Words(0xffU);
  const Floats noise = multiply_add(to_floats(bits), Floats(0x1p-8F), Floats(0x1p-9F));
  return round_down_to_ints(x + noise);
}

template <class T>
[[gnu::flatten]] void quantize_gradients(const TilesToCodes& p) {
  constexpr int band_tiles = 2, band_registers = band_tiles * tile_registers;
  const Index tiles = tiles_in(p.rows), filled = (p.columns + 63) / 64 * 64,
              first = p.column / tile_size * tiles + p.tile;
  const Tile<T> both[band_tiles] = {Tile<T>(p, p.column), Tile<T>(p, p.column + tile_size)};
  const int used = both[1].columns > 0 ? band_registers : tile_registers;
  Floats inverse[band_tiles];
  for (int i = 0; i < used / tile_registers; ++i) {
    const CodeScale scale = both[i].scale();
    p.scales[first + i * tiles] = scale.scale;
    inverse[i] = Floats(scale.inverse);
  }
  const Philox philox(p.stream);
  const IntRegister hundred_twenty_eight = Ints(static_cast<std::int32_t>(0x80808080U)).data;
  IntRegister sums[band_registers];
  for (IntRegister& sum : sums) sum = Ints(0).data;
  for (Index word = 0; word < tile_words; ++word) {
    Words noise[band_registers];
    philox(static_cast<std::uint64_t>((p.tile * tile_words + word) * filled + p.column) / 4, noise);
    for (int j = 0; j < used; ++j) {
      const int i = j / tile_registers, within = j % tile_registers;
      const IntRegister codes = flip_signs(both[i].word(word, within, [&](const Floats& x, int byte) {
        return round_stochastically(x * inverse[i], noise[j], byte);
      }));
      sums[j] = add_byte_products(sums[j], hundred_twenty_eight, codes);
      store_bytes_register(p.to + (first + i * tiles) * tile_bytes + word * word_bytes + within * register_bytes,
                           codes);
    }
  }
  for (int j = 0; j < used; ++j) {
    store_bytes_register(p.starts + (first + j / tile_registers * tiles) * tile_size + j % tile_registers * lanes,
                         (Ints(0) - Ints(sums[j])).data);
  }
}

/// Rows of a block: block_rows x 2 registers for the sums of a tile, as many for the results, two for the codes of the
/// gradient, one for those of a row and one for the scale, out of 32.
constexpr int block_rows = 6;

template <class T, int rows, int registers>
[[gnu::always_inline]] inline void tile_block(const TileProduct& p, Index first) {
  Floats out[rows][registers];
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < registers; ++j) out[i][j] = Floats(0.0F);
  }
  const std::uint8_t *x = p.x + 4 * first, *g = p.g;
  for (Index tile = 0; tile < p.tiles; ++tile) {
    IntRegister sums[rows][registers];
    for (int j = 0; j < registers; ++j) {
      const IntRegister start = load_bytes(p.starts + tile * tile_size + j * lanes);
      for (int i = 0; i < rows; ++i) sums[i][j] = start;
    }
    for (Index word = 0; word < tile_words; ++word, x += word_bytes, g += word_bytes) {
      IntRegister codes[registers];
      for (int j = 0; j < registers; ++j) codes[j] = load_bytes(g + j * register_bytes);
#pragma GCC unroll 8
      for (int i = 0; i < rows; ++i) {
        std::int32_t four = 0;
        std::memcpy(&four, x + 4 * i, sizeof four);
        for (int j = 0; j < registers; ++j) sums[i][j] = add_byte_products(sums[i][j], Ints(four).data, codes[j]);
      }
    }
    const Floats scale(p.x_scales[tile] * p.g_scales[tile]);
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < registers; ++j) out[i][j] = multiply_add(to_floats(sums[i][j]), scale, out[i][j]);
    }
  }
  for (int i = 0; i < rows; ++i) {
    T* const to = static_cast<T*>(p.out) + (first + i) * p.out_width;
    for (int j = 0; j < registers; ++j) {
      store(to + j * lanes, out[i][j], first_lanes(std::min<Index>(lanes, p.columns - j * lanes)));
    }
  }
}

template <class T, int registers>
[[gnu::flatten]] void panel_product(const TileProduct& p) {
  for_blocks_of_rows<block_rows>(
      p.rows, [&](auto rows, Index first) { tile_block<T, decltype(rows)::value, registers>(p, first); });
}

template <class T>
void tile_product(const TileProduct& p) {
  p.columns <= lanes ? panel_product<T, 1>(p) : panel_product<T, tile_registers>(p);
}

}  // namespace

constexpr TileFunctions tile_products{
    .quantize_inputs = {quantize_inputs<float>, quantize_inputs<bfloat16>},
    .quantize_gradients = {quantize_gradients<float>, quantize_gradients<bfloat16>},
    .product = {tile_product<float>, tile_product<bfloat16>},
};
#else
constexpr TileFunctions tile_products{};
#endif

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
