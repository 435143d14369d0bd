#pragma once
// SSE2, with conversions of float16 without F16C. Included only by vector.hpp.
#include <emmintrin.h>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

using Base = xsimd::sse2;
using IntRegister = __m128i;
using DoubleRegister = __m128d;
constexpr int lanes = 4;

struct Part {
  explicit Part(int lanes_used) : count(lanes_used) {}
  int count;
};

[[gnu::always_inline]] inline __m128 add_product(__m128 c, __m128 a, __m128 b) {
  return _mm_add_ps(_mm_mul_ps(a, b), c);
}
[[gnu::always_inline]] inline __m128 subtract_product(__m128 c, __m128 a, __m128 b) {
  return _mm_sub_ps(c, _mm_mul_ps(a, b));
}
[[gnu::always_inline]] inline __m128 product_minus(__m128 a, __m128 b, __m128 c) {
  return _mm_sub_ps(_mm_mul_ps(a, b), c);
}

[[gnu::always_inline]] inline __m128i select_ints(__m128i mask, __m128i yes, __m128i no) {
  return _mm_or_si128(_mm_and_si128(mask, yes), _mm_andnot_si128(mask, no));
}

[[gnu::always_inline]] inline __m128i load_halves(const void* p) {
  return _mm_loadl_epi64(static_cast<const __m128i*>(p));
}

/// Stores the lower halves of four ints.
[[gnu::always_inline]] inline void store_halves(void* p, __m128i x) {
  const __m128i extended = _mm_srai_epi32(_mm_slli_epi32(x, 16), 16);
  _mm_storel_epi64(static_cast<__m128i*>(p), _mm_packs_epi32(extended, extended));
}

[[gnu::always_inline]] inline __m128 load_register(const float* p) { return _mm_loadu_ps(p); }

[[gnu::always_inline]] inline __m128 load_register(const bfloat16* p) {
  return _mm_castsi128_ps(_mm_unpacklo_epi16(_mm_setzero_si128(), load_halves(p)));
}

[[gnu::always_inline]] inline __m128 load_register(const float16* p) {
  const __m128i half = _mm_unpacklo_epi16(load_halves(p), _mm_setzero_si128());
  const __m128i magnitude = _mm_and_si128(half, _mm_set1_epi32(0x7fff));
  const __m128i sign = _mm_slli_epi32(_mm_xor_si128(half, magnitude), 16);
  const __m128i rebias = _mm_set1_epi32(0x38000000);
  const __m128i normal = _mm_add_epi32(_mm_slli_epi32(magnitude, 13), rebias);
  const __m128i infinite = _mm_and_si128(_mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x7bff)), rebias);
  const __m128 tiny = _mm_mul_ps(_mm_cvtepi32_ps(magnitude), _mm_set1_ps(0x1p-24F));
  const __m128i is_tiny = _mm_cmplt_epi32(magnitude, _mm_set1_epi32(0x400));
  const __m128i value = select_ints(is_tiny, _mm_castps_si128(tiny), _mm_add_epi32(normal, infinite));
  return _mm_castsi128_ps(_mm_or_si128(value, sign));
}

[[gnu::always_inline]] inline void store_register(float* p, __m128 x) { _mm_storeu_ps(p, x); }

[[gnu::always_inline]] inline void store_register(bfloat16* p, __m128 x) {
  const __m128i bits = _mm_castps_si128(x);
  const __m128i odd = _mm_and_si128(_mm_srli_epi32(bits, 16), _mm_set1_epi32(1));
  const __m128i rounded = _mm_add_epi32(_mm_add_epi32(bits, _mm_set1_epi32(0x7fff)), odd);
  const __m128i quiet = _mm_or_si128(bits, _mm_set1_epi32(0x400000));
  const __m128i nan = _mm_castps_si128(_mm_cmpunord_ps(x, x));
  store_halves(p, _mm_srli_epi32(select_ints(nan, quiet, rounded), 16));
}

// Same algorithm as the constructor of float16.
[[gnu::always_inline]] inline void store_register(float16* p, __m128 x) {
  const __m128i bits = _mm_castps_si128(x);
  const __m128i magnitude = _mm_and_si128(bits, _mm_set1_epi32(0x7fffffff));
  const __m128i sign = _mm_and_si128(_mm_srli_epi32(bits, 16), _mm_set1_epi32(0x8000));
  const __m128i odd = _mm_and_si128(_mm_srli_epi32(magnitude, 13), _mm_set1_epi32(1));
  const __m128i biased = _mm_sub_epi32(magnitude, _mm_set1_epi32(0x38000000 - 0xfff));
  const __m128i normal = _mm_srli_epi32(_mm_add_epi32(biased, odd), 13);
  const __m128 half = _mm_set1_ps(0.5F);
  const __m128 shifted = _mm_add_ps(_mm_castsi128_ps(magnitude), half);
  const __m128i tiny = _mm_sub_epi32(_mm_castps_si128(shifted), _mm_castps_si128(half));
  const __m128i is_tiny = _mm_cmplt_epi32(magnitude, _mm_set1_epi32(0x38800000));
  const __m128i is_huge = _mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x477fefff));
  const __m128i is_nan = _mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x7f800000));
  __m128i value = select_ints(is_tiny, tiny, normal);
  value = select_ints(is_huge, _mm_set1_epi32(0x7c00), value);
  value = select_ints(is_nan, _mm_set1_epi32(0x7e00), value);
  store_halves(p, _mm_or_si128(value, sign));
}

[[gnu::always_inline]] inline __m128i load_register(const std::int32_t* p) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}

[[gnu::always_inline]] inline __m128i load_register(const std::uint8_t* p) {
  int four = 0;
  __builtin_memcpy(&four, p, sizeof four);
  const __m128i halves = _mm_unpacklo_epi8(_mm_cvtsi32_si128(four), _mm_setzero_si128());
  return _mm_unpacklo_epi16(halves, _mm_setzero_si128());
}

[[gnu::always_inline]] inline void store_register(std::uint8_t* p, __m128i x) {
  const __m128i halves = _mm_packs_epi32(x, x);
  const int four = _mm_cvtsi128_si32(_mm_packus_epi16(halves, halves));
  __builtin_memcpy(p, &four, sizeof four);
}

/// Transposes a 4 x 4 matrix.
[[gnu::always_inline]] inline void transpose_registers(__m128 (&x)[4]) { _MM_TRANSPOSE4_PS(x[0], x[1], x[2], x[3]); }

[[gnu::always_inline]] inline float first_lane(__m128 x) { return _mm_cvtss_f32(x); }

[[gnu::always_inline]] inline float sum_lanes(__m128 x) {
  const __m128 two = _mm_add_ps(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}

[[gnu::always_inline]] inline float max_lanes(__m128 x) {
  const __m128 two = _mm_max_ps(x, _mm_movehl_ps(x, x));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps(two, two, 1)));
}

/// Converts the lower and the upper lanes to double.
[[gnu::always_inline]] inline void widen(__m128 x, __m128d& low, __m128d& high) {
  low = _mm_cvtps_pd(x);
  high = _mm_cvtps_pd(_mm_movehl_ps(x, x));
}

/// The upper and the lower halves of the products of 32-bit words.
[[gnu::always_inline]] inline void multiply_wide(__m128i x, __m128i factor, __m128i& high, __m128i& low) {
  const __m128i even = _mm_shuffle_epi32(_mm_mul_epu32(x, factor), 0xd8);
  const __m128i odd = _mm_shuffle_epi32(_mm_mul_epu32(_mm_srli_epi64(x, 32), factor), 0xd8);
  low = _mm_unpacklo_epi32(even, odd);
  high = _mm_unpackhi_epi32(even, odd);
}

/// Transposes a 4 x 4 matrix in each 128-bit lane.
[[gnu::always_inline]] inline void transpose_lanes(__m128i& a, __m128i& b, __m128i& c, __m128i& d) {
  const __m128i ab_low = _mm_unpacklo_epi32(a, b), ab_high = _mm_unpackhi_epi32(a, b);
  const __m128i cd_low = _mm_unpacklo_epi32(c, d), cd_high = _mm_unpackhi_epi32(c, d);
  a = _mm_unpacklo_epi64(ab_low, cd_low);
  b = _mm_unpackhi_epi64(ab_low, cd_low);
  c = _mm_unpacklo_epi64(ab_high, cd_high);
  d = _mm_unpackhi_epi64(ab_high, cd_high);
}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
