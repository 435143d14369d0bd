#pragma once
// Rounding of several registers to bfloat16, for .isa.cpp files. With AVX2 one test for NaN replaces a selection in
// each register, and two registers are stored at once.
#include <mezzo/backends/xsimd/vector.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

#if defined(__AVX2__) && !defined(__AVX512BW__)
/// Bits whose upper halves are x as bfloat16, rounded to nearest even; not for NaN.
[[gnu::always_inline]] inline __m256i round_bits(__m256 x) {
  const __m256i bits = _mm256_castps_si256(x);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  return _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
}

/// The same, also for NaN.
[[gnu::always_inline]] inline __m256i round_any_bits(__m256 x) {
  const __m256 quiet = _mm256_or_ps(x, _mm256_castsi256_ps(_mm256_set1_epi32(0x400000)));
  const __m256 nan = _mm256_cmp_ps(x, x, _CMP_UNORD_Q);
  return _mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(round_bits(x)), quiet, nan));
}

/// True if no number of a and b is NaN.
[[gnu::always_inline]] inline bool are_numbers(__m256 a, __m256 b) {
  return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_UNORD_Q)) == 0;
}

/// The upper halves of the words of a, then of b.
[[gnu::always_inline]] inline __m256i upper_halves(__m256i a, __m256i b) {
  constexpr int in_order = 0xd8;  // of the quarters
  return _mm256_permute4x64_epi64(_mm256_packus_epi32(_mm256_srli_epi32(a, 16), _mm256_srli_epi32(b, 16)), in_order);
}

/// x with the bits of a bfloat16, rounded to nearest even.
[[gnu::always_inline]] inline __m256 rounded_to_bfloat16(__m256 x) {
  return _mm256_castsi256_ps(_mm256_and_si256(round_any_bits(x), _mm256_set1_epi32(-0x10000)));
}

/// Rounds registers to bfloat16. One test for NaN replaces a selection in each register.
template <int n>
[[gnu::always_inline]] inline void round_registers(__m256 (&x)[n]) {
  static_assert(n % 2 == 0);
  __m256 unordered = _mm256_cmp_ps(x[0], x[1], _CMP_UNORD_Q);
#pragma GCC unroll 8
  for (int i = 2; i < n; i += 2) unordered = _mm256_or_ps(unordered, _mm256_cmp_ps(x[i], x[i + 1], _CMP_UNORD_Q));
  if (__builtin_expect(_mm256_movemask_ps(unordered) != 0, 0)) {
#pragma GCC unroll 8
    for (int i = 0; i < n; ++i) x[i] = rounded_to_bfloat16(x[i]);
    return;
  }
#pragma GCC unroll 8
  for (int i = 0; i < n; ++i) {
    x[i] = _mm256_castsi256_ps(_mm256_and_si256(round_bits(x[i]), _mm256_set1_epi32(-0x10000)));
  }
}

/// Stores two registers of numbers other than NaN, rounded to bfloat16. With `past_caches`, as store() of a register.
[[gnu::always_inline]] inline void store_numbers(bfloat16* p, __m256 a, __m256 b, bool past_caches = false) {
  const __m256i rounded = upper_halves(round_bits(a), round_bits(b));
  auto* const to = reinterpret_cast<__m256i*>(p);
  past_caches ? _mm256_stream_si256(to, rounded) : _mm256_storeu_si256(to, rounded);
}

/// Stores two registers, rounded to bfloat16.
[[gnu::always_inline]] inline void store_registers(bfloat16* p, __m256 a, __m256 b, bool past_caches = false) {
  if (__builtin_expect(are_numbers(a, b), 1)) return store_numbers(p, a, b, past_caches);
  store(p, Floats(a), Whole{}, past_caches);
  store(p + lanes, Floats(b), Whole{}, past_caches);
}

/// Stores numbers that bfloat16 holds exactly.
[[gnu::always_inline]] inline void store_exact_registers(bfloat16* p, __m256 a, __m256 b) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), upper_halves(_mm256_castps_si256(a), _mm256_castps_si256(b)));
}
#endif

/// x as a T, in the registers if the instruction set has its conversions.
template <class T>
[[gnu::always_inline]] inline Floats rounded(const Floats& x) {
#if defined(__AVX512BW__)
  if constexpr (std::is_same_v<T, bfloat16>) {
    return widen_bfloat16(round_to_bfloat16(x.data));
  } else {
    return _mm512_cvtph_ps(round_to_float16(x.data));
  }
#else
  T numbers[lanes];
  store(numbers, x, Whole{});
  return load(numbers, Whole{});
#endif
}

/// Rounds all registers to T.
template <class T, int n>
[[gnu::always_inline]] inline void round_all(Floats (&x)[n]) {
#if defined(__AVX2__) && !defined(__AVX512BW__)
  if constexpr (std::is_same_v<T, bfloat16>) {
    __m256 registers[n];
    for (int i = 0; i < n; ++i) registers[i] = x[i].data;
    round_registers(registers);
    for (int i = 0; i < n; ++i) x[i] = registers[i];
    return;
  }
#endif
  for (Floats& one : x) one = rounded<T>(one);
}

/// Stores two whole registers, one after the other in memory. With `past_caches`, as store() of a register.
template <class T>
[[gnu::always_inline]] inline void store_two(T* p, const Floats& a, const Floats& b, bool past_caches = false) {
#if defined(__AVX2__) && !defined(__AVX512BW__)
  if constexpr (std::is_same_v<T, bfloat16>) return store_registers(p, a.data, b.data, past_caches);
#endif
  store(p, a, Whole{}, past_caches);
  store(p + lanes, b, Whole{}, past_caches);
}

/// store_two() for numbers that T holds exactly.
template <class T>
[[gnu::always_inline]] inline void store_two_exact(T* p, const Floats& a, const Floats& b) {
#if defined(__AVX2__) && !defined(__AVX512BW__)
  if constexpr (std::is_same_v<T, bfloat16>) return store_exact_registers(p, a.data, b.data);
#endif
  store_two(p, a, b);
}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
