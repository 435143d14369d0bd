#pragma once
// Registers of four bytes a lane, for products of codes of 8 bits. Included only by .isa.cpp files, for AVX-512.
#include <type_traits>

#include <mezzo/backends/xsimd/vector.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// Bytes of a register.
constexpr int register_bytes = 4 * lanes;

/// Adds the four products of bytes and signed codes of each lane to its sum. The instruction is of AVX512-VNNI, which
/// machines of Isa::avx512 have or lack: has_int8_products(). Its intrinsic would need a compiler option for the file.
[[gnu::always_inline]] inline IntRegister add_byte_products(IntRegister sum, IntRegister bytes, IntRegister codes) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(bytes), "v"(codes));
  return sum;
}

[[gnu::always_inline]] inline IntRegister load_bytes(const void* p) { return _mm512_loadu_si512(p); }
[[gnu::always_inline]] inline void store_bytes_register(void* p, IntRegister x) { _mm512_storeu_si512(p, x); }
[[gnu::always_inline]] inline Ints magnitude_bits(const Floats& x) {
  return _mm512_and_si512(_mm512_castps_si512(x.data), _mm512_set1_epi32(0x7fffffff));
}
[[gnu::always_inline]] inline std::int32_t largest_lane(const Ints& x) { return _mm512_reduce_max_epi32(x.data); }

/// @name Registers of 2 * lanes bfloat16 numbers
/// @{
/// The first `count` of the numbers at p; zeros otherwise.
[[gnu::always_inline]] inline IntRegister load_halves(const bfloat16* p, std::int64_t count) {
  if (count >= 2 * lanes) return _mm512_loadu_si512(p);
  return count <= 0 ? _mm512_setzero_si512() : _mm512_maskz_loadu_epi16((__mmask32{1} << count) - 1, p);
}
/// Bits of magnitudes, which order as the magnitudes do.
[[gnu::always_inline]] inline IntRegister half_magnitudes(IntRegister x) {
  return _mm512_and_si512(x, _mm512_set1_epi16(0x7fff));
}
[[gnu::always_inline]] inline IntRegister larger_halves(IntRegister a, IntRegister b) { return _mm512_max_epu16(a, b); }
/// Bits of the largest one as a float32 number.
[[gnu::always_inline]] inline std::int32_t largest_half(IntRegister x) {
  const IntRegister upper = _mm512_and_si512(x, _mm512_set1_epi32(static_cast<int>(0xffff0000U)));
  return _mm512_reduce_max_epi32(_mm512_max_epi32(upper, _mm512_slli_epi32(x, 16)));
}
/// The numbers at even and at odd places.
[[gnu::always_inline]] inline Floats even_halves(IntRegister x) {
  return Floats(_mm512_castsi512_ps(_mm512_slli_epi32(x, 16)));
}
[[gnu::always_inline]] inline Floats odd_halves(IntRegister x) {
  return Floats(_mm512_castsi512_ps(_mm512_and_si512(x, _mm512_set1_epi32(static_cast<int>(0xffff0000U)))));
}
/// @}
[[gnu::always_inline]] inline IntRegister round_down_to_ints(const Floats& x) {
  return _mm512_cvt_roundps_epi32(x.data, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}
[[gnu::always_inline]] inline IntRegister round_to_ints(const Floats& x) { return _mm512_cvtps_epi32(x.data); }
[[gnu::always_inline]] inline IntRegister as_ints(const Floats& x) { return _mm512_castps_si512(x.data); }
[[gnu::always_inline]] inline Floats as_floats(IntRegister x) { return Floats(_mm512_castsi512_ps(x)); }
[[gnu::always_inline]] inline Floats to_floats(IntRegister x) { return Floats(_mm512_cvtepi32_ps(x)); }
[[gnu::always_inline]] inline IntRegister flip_signs(IntRegister x) {
  return _mm512_xor_si512(x, _mm512_set1_epi32(static_cast<int>(0x80808080U)));
}
[[gnu::always_inline]] inline std::int32_t sum_of_lanes(IntRegister x) { return _mm512_reduce_add_epi32(x); }

/// Four registers of codes as bytes, in order.
[[gnu::always_inline]] inline IntRegister to_bytes(IntRegister a, IntRegister b, IntRegister c, IntRegister d) {
  const __m512i bytes = _mm512_packs_epi16(_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d));
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  return _mm512_permutexvar_epi32(order, bytes);
}

/// Codes at even and at odd places as words of 16 bits, in order.
[[gnu::always_inline]] inline IntRegister join_words(IntRegister even, IntRegister odd) {
  constexpr __mmask32 odd_words = 0xaaaaaaaa;
  return _mm512_mask_mov_epi16(even, odd_words, _mm512_slli_epi32(odd, 16));
}

/// Two registers of words as bytes, in order.
[[gnu::always_inline]] inline IntRegister words_to_bytes(IntRegister a, IntRegister b) {
  return _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7), _mm512_packs_epi16(a, b));
}

/// Four registers of codes plus 128 as the four bytes of each lane, the first one lowest.
[[gnu::always_inline]] inline IntRegister join_bytes(IntRegister a, IntRegister b, IntRegister c, IntRegister d) {
  const __m512i bytes = _mm512_packs_epi16(_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d));
  // Four lanes of one register follow each other in 128 bits.
  const __m512i order = _mm512_set4_epi32(0x0f0b0703, 0x0e0a0602, 0x0d090501, 0x0c080400);
  return flip_signs(_mm512_shuffle_epi8(bytes, order));
}

/// Lanes of two registers in turn: the lower half of both, then the upper half.
[[gnu::always_inline]] inline void join_lanes(IntRegister& even, IntRegister& odd) {
  const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
  const __m512i first = _mm512_permutex2var_epi32(even, low, odd);
  odd = _mm512_permutex2var_epi32(even, high, odd);
  even = first;
}

/// `lanes` codes, of which `part` are read, as ints.
[[gnu::always_inline]] inline IntRegister load_codes(const std::int8_t* p, Whole) {
  return _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
[[gnu::always_inline]] inline IntRegister load_codes(const std::int8_t* p, Part part) {
  return _mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(part.mask, p));
}
/// The first `count` of 64 bytes; zeros otherwise.
[[gnu::always_inline]] inline IntRegister load_bytes(const void* p, std::int64_t count) {
  return _mm512_maskz_loadu_epi8(count >= register_bytes ? ~__mmask64{0} : (__mmask64{1} << count) - 1, p);
}

/// True if results that are denormals become zero.
[[gnu::always_inline]] inline bool flushes_denormals() { return (_mm_getcsr() & _MM_FLUSH_ZERO_ON) != 0; }

/// Stores two registers of numbers that follow each other, none of which is a denormal.
template <class T>
[[gnu::always_inline]] inline void store_two(T* p, const Floats& a, const Floats& b) {
#if defined(__AVX512BF16__)
  // The instruction treats denormals as zeros.
  if constexpr (std::is_same_v<T, bfloat16>) {
    return store_bytes_register(p, (__m512i)_mm512_cvtne2ps_pbh(b.data, a.data));
  }
#endif
  store(p, a, Whole{});
  store(p + lanes, b, Whole{});
}

/// The first `count` of 64 bytes.
[[gnu::always_inline]] inline void store_bytes(void* p, IntRegister x, std::int64_t count) {
  _mm512_mask_storeu_epi8(p, (__mmask64{1} << count) - 1, x);
}

/// block(rows, first), where `rows` is the constant that equals `count`.
template <int most, class Block>
[[gnu::always_inline]] inline void block_of_rows(std::int64_t first, std::int64_t count, const Block& block) {
  if (count == most) return block(std::integral_constant<int, most>{}, first);
  if constexpr (most > 1) block_of_rows<most - 1>(first, count, block);
}

/// Calls block(rows, first) for blocks of nearly equal numbers of rows, of which each is a constant up to `most`.
template <int most, class Block>
[[gnu::always_inline]] inline void for_blocks_of_rows(std::int64_t rows, const Block& block) {
  const std::int64_t blocks = (rows + most - 1) / most;
  for (std::int64_t i = 0; i < blocks; ++i) {
    const std::int64_t first = rows * i / blocks;
    block_of_rows<most>(first, rows * (i + 1) / blocks - first, block);
  }
}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
