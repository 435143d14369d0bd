#include <mezzo/backends/xsimd/int8/few_codes.hpp>

#include <algorithm>
#include <type_traits>

#include <mezzo/backends/xsimd/int8/code_registers.hpp>
#include <mezzo/backends/xsimd/int8/code_scale.hpp>
#include <mezzo/backends/xsimd/int8/codes_to_floats.hpp>
#include <mezzo/backends/xsimd/prefetch.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// Fetches a cache line of each of `count` rows of codes to the L2 cache, once for each line that `byte` passes. An
/// address past the end has no effect.
template <int count>
[[gnu::always_inline]] inline void fetch_rows(const std::uint8_t* codes, Index pitch, Index byte) {
  constexpr Index line = 64;
  if (byte % line >= lanes) return;
  for (int i = 0; i < count; ++i) fetch_to_second_level(codes + i * pitch);
}

/// The sum of the lanes, which are integers.
[[gnu::always_inline]] inline float sum_whole(const Floats& x) {
  float each[lanes];
  store(each, x, Whole{});
  std::int32_t sum = 0;
  for (const float one : each) sum += static_cast<std::int32_t>(one);
  return static_cast<float>(sum);
}

[[gnu::always_inline]] inline float sum_of(const float* x, Index count) {
  Floats sum(0.0F);
  for_registers(0, count, [&](Index i, auto part) { sum += load(x + i, part); });
  return sum_lanes(sum);
}

/// Adds the products of `count` columns of x, from k on, with rows of codes to the group's sums.
template <class Codes, int rows, int count>
[[gnu::always_inline]] inline void add_codes(const FewCodes& p, Index k) {
  constexpr int registers = Codes::registers;
  const std::uint8_t* const codes = static_cast<const std::uint8_t*>(p.codes) + k * p.pitch;
  for_codes<Codes>(p.columns, [&](Index column, Index byte, auto part) {
    Floats sums[rows][registers];
    for (int row = 0; row < rows; ++row) {
      for (int j = 0; j < registers; ++j) {
        sums[row][j] = load(p.group_sums + row * p.sums_width + column + j * lanes, Whole{});
      }
    }
    fetch_rows<count>(codes + count * p.pitch + byte, p.pitch, byte);
#pragma GCC unroll 8
    for (int i = 0; i < count; ++i) {
      Floats numbers[registers];
      Codes::load_numbers(codes + i * p.pitch + byte, part, numbers);
      for (int j = 0; j < registers; ++j) {
        for (int row = 0; row < rows; ++row) {
          sums[row][j] = multiply_add(Floats(p.x[row * p.x_width + k + i]), numbers[j], sums[row][j]);
        }
      }
    }
    for (int row = 0; row < rows; ++row) {
      for (int j = 0; j < registers; ++j) {
        store(p.group_sums + row * p.sums_width + column + j * lanes, sums[row][j], Whole{});
      }
    }
  });
}

/// Adds a group's sums to the sums: those of codes, or of numbers (code - zero) * scale. The sum of x times the zero is
/// subtracted once, not the zero from each code.
template <class Codes>
[[gnu::always_inline]] inline void add_group(const FewCodes& p, Index begin, Index end) {
  constexpr int registers = Codes::registers;
  const bool grouped = p.scales != nullptr;
  const Index place_of_scales = begin / p.block * p.scale_width;
  float x_sums[FewCodes::most_rows] = {};
  if (grouped && p.zeros != nullptr) {
    for (Index row = 0; row < p.rows; ++row) x_sums[row] = sum_of(p.x + row * p.x_width + begin, end - begin);
  }
  for_codes<Codes>(p.columns, [&](Index column, Index, auto) {
    Floats factors[registers], zeros[registers];
    if (grouped) {
      load_columns<Codes>(p.scales + place_of_scales, column, p.columns, factors);
      if (p.zeros != nullptr) {
        load_columns<Codes>(p.zeros + place_of_scales, column, p.columns, zeros);
      } else {
        std::fill_n(zeros, registers, Floats(0.0F));
      }
    }
    for (Index row = 0; row < p.rows; ++row) {
      const Index place = row * p.sums_width + column;
      Floats group[registers];
      for (int j = 0; j < registers; ++j) group[j] = load(p.group_sums + place + j * lanes, Whole{});
      Codes::to_columns(group);
      for (int j = 0; j < registers; ++j) {
        Floats sum = group[j];
        if (grouped) sum = negative_multiply_add(zeros[j], Floats(x_sums[row]), sum) * factors[j];
        if (begin > 0) sum += load(p.sums + place + j * lanes, Whole{});
        store(p.sums + place + j * lanes, sum, Whole{});
      }
    }
  });
}

#if defined(__AVX512BF16__)
/// Numbers of 32 codes as bfloat16, in the lower 4 bits of words; a permutation reads 5 bits.
[[gnu::always_inline]] inline __m512bh code_words(__m512i words) {
  alignas(64) static constexpr std::uint16_t table[] = {0x0000, 0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0, 0x40c0, 0x40e0,
                                                        0xc100, 0xc0e0, 0xc0c0, 0xc0a0, 0xc080, 0xc040, 0xc000, 0xbf80,
                                                        0x0000, 0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0, 0x40c0, 0x40e0,
                                                        0xc100, 0xc0e0, 0xc0c0, 0xc0a0, 0xc080, 0xc040, 0xc000, 0xbf80};
  return (__m512bh)_mm512_permutexvar_epi16(words, _mm512_load_si512(table));
}

[[gnu::always_inline]] inline __m128i load_code_bytes(const std::uint8_t* p, Whole) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}
[[gnu::always_inline]] inline __m128i load_code_bytes(const std::uint8_t* p, Part part) {
  return _mm_maskz_loadu_epi8(part.mask, p);
}

/// Does the work of add_codes() for codes of 4 bits, in pairs of rows: `pairs` pairs of numbers of x that are numbers
/// of bfloat16.
template <int rows, int pairs>
[[gnu::always_inline]] inline void add_pairs_of_codes(const FewCodes& p, Index k) {
  std::uint32_t x[rows][pairs];
  for (int row = 0; row < rows; ++row) {
    for (int i = 0; i < pairs; ++i) {
      std::uint32_t two[2];
      __builtin_memcpy(two, p.x + row * p.x_width + k + 2 * i, sizeof two);
      x[row][i] = (two[1] & 0xffff0000U) | two[0] >> 16;
    }
  }
  const std::uint8_t* const codes = static_cast<const std::uint8_t*>(p.codes) + k * p.pitch;
  for_codes<Nibbles>(p.columns, [&](Index column, Index byte, auto part) {
    __m512 sums[rows][2];
    float* const place = p.group_sums + column;
    for (int row = 0; row < rows; ++row) {
      for (int j = 0; j < 2; ++j) sums[row][j] = _mm512_loadu_ps(place + row * p.sums_width + j * lanes);
    }
    fetch_rows<2 * pairs>(codes + 2 * pairs * p.pitch + byte, p.pitch, byte);
#pragma GCC unroll 4
    for (int i = 0; i < pairs; ++i) {
      const std::uint8_t* const even = codes + 2 * i * p.pitch + byte;
      const __m128i a = load_code_bytes(even, part), b = load_code_bytes(even + p.pitch, part);
      const __m512i words = _mm512_cvtepu8_epi16(_mm256_set_m128i(_mm_unpackhi_epi8(a, b), _mm_unpacklo_epi8(a, b)));
      const __m512bh low = code_words(words), high = code_words(_mm512_srli_epi16(words, 4));
      for (int row = 0; row < rows; ++row) {
        const auto pair = (__m512bh)_mm512_set1_epi32(static_cast<int>(x[row][i]));
        sums[row][0] = _mm512_dpbf16_ps(sums[row][0], low, pair);
        sums[row][1] = _mm512_dpbf16_ps(sums[row][1], high, pair);
      }
    }
    for (int row = 0; row < rows; ++row) {
      for (int j = 0; j < 2; ++j) _mm512_storeu_ps(place + row * p.sums_width + j * lanes, sums[row][j]);
    }
  });
}
#endif

template <class Codes, int rows>
[[gnu::flatten]] void multiply(const FewCodes& p) {
  constexpr int at_once = 8;
  for (Index begin = 0; begin < p.depth; begin += p.block) {
    const Index end = std::min(p.depth, begin + p.block);
    std::fill_n(p.group_sums, p.rows * p.sums_width, 0.0F);
    Index k = begin;
#if defined(__AVX512BF16__)
    if constexpr (std::is_same_v<Codes, Nibbles>) {
      for (; p.narrow && k + at_once <= end; k += at_once) add_pairs_of_codes<rows, at_once / 2>(p, k);
    }
#endif
    for (; k + at_once <= end; k += at_once) add_codes<Codes, rows, at_once>(p, k);
    for (; k < end; ++k) add_codes<Codes, rows, 1>(p, k);
    add_group<Codes>(p, begin, end);
  }
}

template <class Codes, int rows = 1>
void product(const FewCodes& p) {
  if constexpr (rows < FewCodes::most_rows) {
    if (p.rows != rows) return product<Codes, rows + 1>(p);
  }
  multiply<Codes, rows>(p);
}

/// Sums of `count` rows of codes, from `column` on.
template <class Codes, int rows, int count, bool grouped>
[[gnu::always_inline]] inline void add_table(const FewTableCodes& p, Index column) {
  constexpr int registers = Codes::registers;
  const std::uint8_t* const codes = static_cast<const std::uint8_t*>(p.codes) + column * p.pitch;
  const Index plane = p.x_width / registers, groups = (p.depth + p.block - 1) / p.block;
  Floats totals[rows][count];
  for (int row = 0; row < rows; ++row) {
    for (int i = 0; i < count; ++i) totals[row][i] = Floats(0.0F);
  }
  for (Index group = 0; group < groups; ++group) {
    const Index first = group * p.block / registers;
    const Index last = (std::min(p.depth, (group + 1) * p.block) + registers - 1) / registers;
    Floats sums[rows][count], x_sums[rows];
    for (int row = 0; row < rows; ++row) {
      x_sums[row] = Floats(0.0F);
      for (int i = 0; i < count; ++i) sums[row][i] = grouped ? Floats(0.0F) : totals[row][i];
    }
    for_registers(first, last, [&](Index byte, auto part) {
      Floats x[rows][registers];
      for (int row = 0; row < rows; ++row) {
        for (int j = 0; j < registers; ++j) {
          x[row][j] = load(p.x + row * p.x_width + j * plane + byte, part);
          if constexpr (grouped) x_sums[row] += x[row][j];
        }
      }
      fetch_rows<count>(codes + count * p.pitch + byte, p.pitch, byte);
      for (int i = 0; i < count; ++i) {
        Floats numbers[registers];
        Codes::load_numbers(codes + i * p.pitch + byte, part, numbers);
        for (int j = 0; j < registers; ++j) {
          for (int row = 0; row < rows; ++row) sums[row][i] = multiply_add(x[row][j], numbers[j], sums[row][i]);
        }
      }
    });
    for (int i = 0; i < count; ++i) {
      const Index place = (column + i) * groups + group;
      const bool has_zeros = grouped && p.zeros != nullptr;  // 0 times an infinite sum is NaN
      const Floats zero(has_zeros ? p.zeros[place] : 0.0F);
      for (int row = 0; row < rows; ++row) {
        if constexpr (grouped) {
          const Floats sum = has_zeros ? negative_multiply_add(zero, x_sums[row], sums[row][i]) : sums[row][i];
          totals[row][i] = multiply_add(sum, Floats(p.scales[place]), totals[row][i]);
        } else {
          totals[row][i] = sums[row][i];
        }
      }
    }
  }
  for (int row = 0; row < rows; ++row) {
    for (int i = 0; i < count; ++i) {
      p.sums[row * p.sums_width + column + i] = p.whole ? sum_whole(totals[row][i]) : sum_lanes(totals[row][i]);
    }
  }
}

template <class Codes, int rows, bool grouped>
[[gnu::flatten]] void multiply_table(const FewTableCodes& p) {
  constexpr int count = rows == 1 ? 4 : rows <= 4 ? 2 : 1;
  Index column = 0;
  for (; column + count <= p.columns; column += count) add_table<Codes, rows, count, grouped>(p, column);
  for (; column < p.columns; ++column) add_table<Codes, rows, 1, grouped>(p, column);
}

template <class Codes, int rows = 1>
void table_product(const FewTableCodes& p) {
  if constexpr (rows < FewCodes::most_rows) {
    if (p.rows != rows) return table_product<Codes, rows + 1>(p);
  }
  p.scales != nullptr ? multiply_table<Codes, rows, true>(p) : multiply_table<Codes, rows, false>(p);
}

[[gnu::flatten]] float quantize(const RowToCodes& p) {
  Ints largest(0);
  for_registers(0, p.count, [&](Index i, auto part) {
    largest = xsimd::max(largest, xsimd::bitwise_cast<Ints>(load(p.x + i, part)) & Ints(0x7fffffff));
  });
  std::int32_t each[lanes];
  largest.store_unaligned(each);
  const CodeScale scale = code_scale(*std::max_element(each, each + lanes), p.epsilon);
  const bool finite = scale.inverse > 0;
  const float factor = finite && p.factor != 0 ? p.factor : scale.inverse;
  const Floats least(-127.0F), most(127.0F);
  for_registers(0, p.count, [&](Index i, auto part) {
    const Floats codes = xsimd::min(xsimd::max(xsimd::nearbyint(load(p.x + i, part) * Floats(factor)), least), most);
    store(p.x + i, finite ? codes : Floats(0.0F), part);
  });
  return finite ? factor : scale.scale;
}

template <class T>
[[gnu::flatten]] void finish(const FinishCodes& p) {
  const Floats row_scale(p.row_scale);
  for_registers(0, p.columns, [&](Index column, auto part) {
    Floats y(0.0F);
    for (Index begin = 0; p.whole && begin < p.chunks; begin += FinishCodes::whole_chunks) {
      Ints sum(0);
      for (Index i = begin; i < std::min(p.chunks, begin + FinishCodes::whole_chunks); ++i) {
        sum += xsimd::to_int(load(p.sums + i * p.next_chunk + column, part));
      }
      y += xsimd::to_float(sum);
    }
    for (Index i = 0; !p.whole && i < p.chunks; ++i) y += load(p.sums + i * p.next_chunk + column, part);
    store(static_cast<T*>(p.out) + column,
          y / (p.scales != nullptr ? row_scale * load(p.scales + column, part) : row_scale), part);
  });
}

}  // namespace

constexpr FewCodesFunctions few_codes{
    .quantize = quantize,
    .bytes = product<Bytes>,
    .nibbles = product<Nibbles>,
    .normals = product<Normals>,
    .table_bytes = table_product<Bytes>,
    .table_nibbles = table_product<Nibbles>,
    .table_normals = table_product<Normals>,
    .dequantize = {.float32 = dequantize<float>, .bfloat16 = dequantize<bfloat16>, .float16 = dequantize<float16>},
    .finish = {.float32 = finish<float>, .bfloat16 = finish<bfloat16>, .float16 = finish<float16>},
};

}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
