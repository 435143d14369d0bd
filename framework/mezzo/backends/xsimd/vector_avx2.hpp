#pragma once
// AVX2 with FMA and F16C. Included only by vector.hpp.
#include <immintrin.h>

#include <cstdint>
#include <cstring>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

using Base = xsimd::fma3<xsimd::avx2>;
using IntRegister = __m256i;
using DoubleRegister = __m256d;
constexpr int lanes = 8;

struct Part {
  explicit Part(int lanes_used) : count(lanes_used) {}
  __m256i mask() const {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  int count;
};

[[gnu::always_inline]] inline __m256 add_product(__m256 c, __m256 a, __m256 b) { return _mm256_fmadd_ps(a, b, c); }
[[gnu::always_inline]] inline __m256 subtract_product(__m256 c, __m256 a, __m256 b) {
  return _mm256_fnmadd_ps(a, b, c);
}
[[gnu::always_inline]] inline __m256 product_minus(__m256 a, __m256 b, __m256 c) { return _mm256_fmsub_ps(a, b, c); }

[[gnu::always_inline]] inline __m128i load_halves(const void* p) {
  return _mm_loadu_si128(static_cast<const __m128i*>(p));
}

[[gnu::always_inline]] inline __m256 load_register(const float* p) { return _mm256_loadu_ps(p); }

/// Numbers of bfloat16 as float32.
[[gnu::always_inline]] inline __m256 widen_bfloat16(__m128i x) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16));
}

[[gnu::always_inline]] inline __m256 load_register(const bfloat16* p) { return widen_bfloat16(load_halves(p)); }

[[gnu::always_inline]] inline __m256 load_register(const float16* p) { return _mm256_cvtph_ps(load_halves(p)); }

[[gnu::always_inline]] inline void store_register(float* p, __m256 x) { _mm256_storeu_ps(p, x); }

/// x as bfloat16, rounded to nearest even.
[[gnu::always_inline]] inline __m128i round_to_bfloat16(__m256 x) {
  const __m256i bits = _mm256_castps_si256(x);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
  const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x400000));
  const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q));
  const __m256i upper = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, nan), 16);
  const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(upper, upper), 0x08);
  return _mm256_castsi256_si128(packed);
}

[[gnu::always_inline]] inline __m128i round_to_float16(__m256 x) {
  return _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
}

[[gnu::always_inline]] inline void store_register(bfloat16* p, __m256 x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), round_to_bfloat16(x));
}

[[gnu::always_inline]] inline void store_register(float16* p, __m256 x) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), round_to_float16(x));
}

// Half of a cache line or less: the processor joins the stores of a line.
[[gnu::always_inline]] inline void store_past_caches(float* p, __m256 x) { _mm256_stream_ps(p, x); }

[[gnu::always_inline]] inline void store_past_caches(bfloat16* p, __m256 x) {
  _mm_stream_si128(reinterpret_cast<__m128i*>(p), round_to_bfloat16(x));
}

[[gnu::always_inline]] inline void store_past_caches(float16* p, __m256 x) {
  _mm_stream_si128(reinterpret_cast<__m128i*>(p), round_to_float16(x));
}

[[gnu::always_inline]] inline __m256 load_register(const float* p, Part part) {
  return _mm256_maskload_ps(p, part.mask());
}

[[gnu::always_inline]] inline void store_register(float* p, __m256 x, Part part) {
  _mm256_maskstore_ps(p, part.mask(), x);
}

/// The first `count` numbers of 16 bits; zeros otherwise. They don't pass through memory: a register that is
/// loaded from several stores waits for all of them.
[[gnu::always_inline]] inline __m128i load_halves(const void* p, int count) {
  const char* const from = static_cast<const char*>(p);
  constexpr int half = 4, bits = 16;
  if (count >= half) {
    const __m128i first = _mm_loadu_si64(from), last = _mm_loadu_si64(from + (count - half) * (bits / 8));
    return _mm_unpacklo_epi64(first, _mm_srl_epi64(last, _mm_cvtsi32_si128((lanes - count) * bits)));
  }
  std::uint64_t all = 0;
  for (int i = 0; i < count; ++i) {
    std::uint16_t one = 0;
    std::memcpy(&one, from + i * (bits / 8), sizeof one);
    all |= static_cast<std::uint64_t>(one) << i * bits;
  }
  return _mm_cvtsi64_si128(static_cast<long long>(all));
}

/// Stores the first `count` numbers of 16 bits.
[[gnu::always_inline]] inline void store_halves(void* p, __m128i x, int count) {
  char* to = static_cast<char*>(p);
  constexpr int half = 4;
  for (; count >= half; count -= half) {
    _mm_storeu_si64(to, x);
    to += sizeof(std::uint64_t);
    x = _mm_unpackhi_epi64(x, x);
  }
  auto all = static_cast<std::uint64_t>(_mm_cvtsi128_si64(x));
  if (count >= 2) {
    std::memcpy(to, &all, sizeof(std::uint32_t));
    to += sizeof(std::uint32_t);
    all >>= 32;
  }
  if (count % 2 != 0) std::memcpy(to, &all, sizeof(std::uint16_t));
}

[[gnu::always_inline]] inline __m256 load_register(const bfloat16* p, Part part) {
  return widen_bfloat16(load_halves(p, part.count));
}

[[gnu::always_inline]] inline __m256 load_register(const float16* p, Part part) {
  return _mm256_cvtph_ps(load_halves(p, part.count));
}

[[gnu::always_inline]] inline void store_register(bfloat16* p, __m256 x, Part part) {
  store_halves(p, round_to_bfloat16(x), part.count);
}

[[gnu::always_inline]] inline void store_register(float16* p, __m256 x, Part part) {
  store_halves(p, round_to_float16(x), part.count);
}

[[gnu::always_inline]] inline __m256i load_register(const std::int32_t* p) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}

[[gnu::always_inline]] inline __m256i load_register(const std::uint8_t* p) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}

[[gnu::always_inline]] inline void store_register(std::uint8_t* p, __m256i x) {
  const __m256i halves = _mm256_packus_epi32(x, x);
  const __m256i bytes = _mm256_packus_epi16(halves, halves);
  const __m256i packed = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 0, 4, 0, 4, 0, 4));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm256_castsi256_si128(packed));
}

/// Transposes an 8 x 8 matrix.
[[gnu::always_inline]] inline void transpose_registers(__m256 (&x)[8]) {
  __m256 t[8];
  for (int i = 0; i < 8; i += 4) {
    const __m256 a = _mm256_unpacklo_ps(x[i], x[i + 1]), b = _mm256_unpackhi_ps(x[i], x[i + 1]);
    const __m256 c = _mm256_unpacklo_ps(x[i + 2], x[i + 3]), d = _mm256_unpackhi_ps(x[i + 2], x[i + 3]);
    t[i] = _mm256_shuffle_ps(a, c, _MM_SHUFFLE(1, 0, 1, 0));
    t[i + 1] = _mm256_shuffle_ps(a, c, _MM_SHUFFLE(3, 2, 3, 2));
    t[i + 2] = _mm256_shuffle_ps(b, d, _MM_SHUFFLE(1, 0, 1, 0));
    t[i + 3] = _mm256_shuffle_ps(b, d, _MM_SHUFFLE(3, 2, 3, 2));
  }
  constexpr int lower = 0x20, upper = 0x31;  // selects these halves of both operands
  for (int i = 0; i < 4; ++i) {
    x[i] = _mm256_permute2f128_ps(t[i], t[i + 4], lower);
    x[i + 4] = _mm256_permute2f128_ps(t[i], t[i + 4], upper);
  }
}

[[gnu::always_inline]] inline float first_lane(__m256 x) { return _mm256_cvtss_f32(x); }

[[gnu::always_inline]] inline float sum_lanes(__m256 x) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

[[gnu::always_inline]] inline float max_lanes(__m256 x) {
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

/// Converts the lower and the upper lanes to double.
[[gnu::always_inline]] inline void widen(__m256 x, __m256d& low, __m256d& high) {
  low = _mm256_cvtps_pd(_mm256_castps256_ps128(x));
  high = _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1));
}

/// The upper and the lower halves of the products of 32-bit words.
[[gnu::always_inline]] inline void multiply_wide(__m256i x, __m256i factor, __m256i& high, __m256i& low) {
  constexpr int odd_words = 0xaa, to_even = 0xf5, to_odd = 0xa0;
  const __m256i even = _mm256_mul_epu32(x, factor);
  const __m256i odd = _mm256_mul_epu32(_mm256_shuffle_epi32(x, to_even), factor);
  low = _mm256_blend_epi32(even, _mm256_shuffle_epi32(odd, to_odd), odd_words);
  high = _mm256_blend_epi32(_mm256_shuffle_epi32(even, to_even), odd, odd_words);
}

/// Transposes a 4 x 4 matrix in each 128-bit lane.
[[gnu::always_inline]] inline void transpose_lanes(__m256i& a, __m256i& b, __m256i& c, __m256i& d) {
  const __m256i ab_low = _mm256_unpacklo_epi32(a, b), ab_high = _mm256_unpackhi_epi32(a, b);
  const __m256i cd_low = _mm256_unpacklo_epi32(c, d), cd_high = _mm256_unpackhi_epi32(c, d);
  a = _mm256_unpacklo_epi64(ab_low, cd_low);
  b = _mm256_unpackhi_epi64(ab_low, cd_low);
  c = _mm256_unpacklo_epi64(ab_high, cd_high);
  d = _mm256_unpackhi_epi64(ab_high, cd_high);
}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
