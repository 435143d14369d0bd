#pragma once
// AVX-512 (F, BW, DQ, VL, CD), with or without BF16. Included only by vector.hpp.
#include <immintrin.h>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

using Base = xsimd::avx512bw;
using IntRegister = __m512i;
using DoubleRegister = __m512d;
constexpr int lanes = 16;

struct Part {
  explicit Part(int lanes_used) : count(lanes_used), mask(static_cast<__mmask16>((1U << lanes_used) - 1U)) {}
  int count;
  __mmask16 mask;
};

[[gnu::always_inline]] inline __m512 add_product(__m512 c, __m512 a, __m512 b) { return _mm512_fmadd_ps(a, b, c); }
[[gnu::always_inline]] inline __m512 subtract_product(__m512 c, __m512 a, __m512 b) {
  return _mm512_fnmadd_ps(a, b, c);
}
[[gnu::always_inline]] inline __m512 product_minus(__m512 a, __m512 b, __m512 c) { return _mm512_fmsub_ps(a, b, c); }

[[gnu::always_inline]] inline __m512 widen_bfloat16(__m256i halves) {
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
}

[[gnu::always_inline]] inline __m256i round_to_bfloat16(__m512 x) {
#if defined(__AVX512BF16__)
  // The instruction treats denormals as zeros. They are rare enough to branch on.
  constexpr int denormal = 0x20;
  if (__builtin_expect(_mm512_fpclass_ps_mask(x, denormal) == 0, 1)) return (__m256i)_mm512_cvtneps_pbh(x);
#endif
  const __m512i bits = _mm512_castps_si512(x);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
  const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
  const __m512i kept = _mm512_mask_or_epi32(rounded, nan, bits, _mm512_set1_epi32(0x400000));
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(kept, 16));
}

[[gnu::always_inline]] inline __m256i round_to_float16(__m512 x) {
  return _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
}

[[gnu::always_inline]] inline __m512 load_register(const float* p) { return _mm512_loadu_ps(p); }

[[gnu::always_inline]] inline __m512 load_register(const bfloat16* p) {
  return widen_bfloat16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}

[[gnu::always_inline]] inline __m512 load_register(const float16* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}

[[gnu::always_inline]] inline __m512 load_register(const float* p, Part part) {
  return _mm512_maskz_loadu_ps(part.mask, p);
}

[[gnu::always_inline]] inline __m512 load_register(const bfloat16* p, Part part) {
  return widen_bfloat16(_mm256_maskz_loadu_epi16(part.mask, p));
}

[[gnu::always_inline]] inline __m512 load_register(const float16* p, Part part) {
  return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(part.mask, p));
}

[[gnu::always_inline]] inline __m512i load_register(const std::int32_t* p) { return _mm512_loadu_si512(p); }

[[gnu::always_inline]] inline __m512i load_register(const std::int32_t* p, Part part) {
  return _mm512_maskz_loadu_epi32(part.mask, p);
}

[[gnu::always_inline]] inline __m512i load_register(const std::uint8_t* p) {
  return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}

[[gnu::always_inline]] inline __m512i load_register(const std::uint8_t* p, Part part) {
  return _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(part.mask, p));
}

[[gnu::always_inline]] inline void store_register(float* p, __m512 x) { _mm512_storeu_ps(p, x); }

[[gnu::always_inline]] inline void store_register(bfloat16* p, __m512 x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), round_to_bfloat16(x));
}

[[gnu::always_inline]] inline void store_register(float16* p, __m512 x) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), round_to_float16(x));
}

[[gnu::always_inline]] inline void store_register(float* p, __m512 x, Part part) {
  _mm512_mask_storeu_ps(p, part.mask, x);
}

[[gnu::always_inline]] inline void store_register(bfloat16* p, __m512 x, Part part) {
  _mm256_mask_storeu_epi16(p, part.mask, round_to_bfloat16(x));
}

[[gnu::always_inline]] inline void store_register(float16* p, __m512 x, Part part) {
  _mm256_mask_storeu_epi16(p, part.mask, round_to_float16(x));
}

/// Stores without reading the cache line. p is aligned.
[[gnu::always_inline]] inline void store_past_caches(float* p, __m512 x) { _mm512_stream_ps(p, x); }

[[gnu::always_inline]] inline void store_past_caches(bfloat16* p, __m512 x) {
  _mm256_stream_si256(reinterpret_cast<__m256i*>(p), round_to_bfloat16(x));
}

[[gnu::always_inline]] inline void store_past_caches(float16* p, __m512 x) {
  _mm256_stream_si256(reinterpret_cast<__m256i*>(p), round_to_float16(x));
}

[[gnu::always_inline]] inline void store_register(std::uint8_t* p, __m512i x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(x));
}

[[gnu::always_inline]] inline void store_register(std::uint8_t* p, __m512i x, Part part) {
  _mm_mask_storeu_epi8(p, part.mask, _mm512_cvtepi32_epi8(x));
}

/// Transposes a 16 x 16 matrix.
[[gnu::always_inline]] inline void transpose_registers(__m512 (&x)[16]) {
  __m512 t[16];
  for (int i = 0; i < 16; i += 4) {
    const __m512 a = _mm512_unpacklo_ps(x[i], x[i + 1]), b = _mm512_unpackhi_ps(x[i], x[i + 1]);
    const __m512 c = _mm512_unpacklo_ps(x[i + 2], x[i + 3]), d = _mm512_unpackhi_ps(x[i + 2], x[i + 3]);
    t[i] = _mm512_shuffle_ps(a, c, _MM_SHUFFLE(1, 0, 1, 0));
    t[i + 1] = _mm512_shuffle_ps(a, c, _MM_SHUFFLE(3, 2, 3, 2));
    t[i + 2] = _mm512_shuffle_ps(b, d, _MM_SHUFFLE(1, 0, 1, 0));
    t[i + 3] = _mm512_shuffle_ps(b, d, _MM_SHUFFLE(3, 2, 3, 2));
  }
  constexpr int even = 0x88, odd = 0xdd;  // selects these 128-bit lanes of both operands
  for (int i = 0; i < 4; ++i) {
    const __m512 a = _mm512_shuffle_f32x4(t[i], t[i + 4], even), b = _mm512_shuffle_f32x4(t[i], t[i + 4], odd);
    const __m512 c = _mm512_shuffle_f32x4(t[i + 8], t[i + 12], even),
                 d = _mm512_shuffle_f32x4(t[i + 8], t[i + 12], odd);
    x[i] = _mm512_shuffle_f32x4(a, c, even);
    x[i + 4] = _mm512_shuffle_f32x4(b, d, even);
    x[i + 8] = _mm512_shuffle_f32x4(a, c, odd);
    x[i + 12] = _mm512_shuffle_f32x4(b, d, odd);
  }
}

[[gnu::always_inline]] inline float first_lane(__m512 x) { return _mm512_cvtss_f32(x); }

[[gnu::always_inline]] inline float sum_lanes(__m512 x) { return _mm512_reduce_add_ps(x); }

[[gnu::always_inline]] inline float max_lanes(__m512 x) { return _mm512_reduce_max_ps(x); }

/// Converts the lower and the upper lanes to double.
[[gnu::always_inline]] inline void widen(__m512 x, __m512d& low, __m512d& high) {
  low = _mm512_cvtps_pd(_mm512_castps512_ps256(x));
  high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1));
}

/// The upper and the lower halves of the products of 32-bit words. Uses shuffles instead of shifts, which would compete
/// with the multiplications for one port.
[[gnu::always_inline]] inline void multiply_wide(__m512i x, __m512i factor, __m512i& high, __m512i& low) {
  constexpr __mmask16 odd_words = 0xaaaa, even_words = 0x5555;
  const __m512i even = _mm512_mul_epu32(x, factor);
  const __m512i odd = _mm512_mul_epu32(_mm512_shuffle_epi32(x, _MM_PERM_DDBB), factor);
  low = _mm512_mask_shuffle_epi32(even, odd_words, odd, _MM_PERM_CCAA);
  high = _mm512_mask_shuffle_epi32(odd, even_words, even, _MM_PERM_DDBB);
}

/// Transposes a 4 x 4 matrix in each 128-bit lane.
[[gnu::always_inline]] inline void transpose_lanes(__m512i& a, __m512i& b, __m512i& c, __m512i& d) {
  const __m512i ab_low = _mm512_unpacklo_epi32(a, b), ab_high = _mm512_unpackhi_epi32(a, b);
  const __m512i cd_low = _mm512_unpacklo_epi32(c, d), cd_high = _mm512_unpackhi_epi32(c, d);
  a = _mm512_unpacklo_epi64(ab_low, cd_low);
  b = _mm512_unpackhi_epi64(ab_low, cd_low);
  c = _mm512_unpacklo_epi64(ab_high, cd_high);
  d = _mm512_unpackhi_epi64(ab_high, cd_high);
}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
