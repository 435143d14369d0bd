#pragma once
// Codes of 4 and 8 bits as floats. Included only by .isa.cpp files.
#include <array>

#include <mezzo/backends/xsimd/vector.hpp>
#include <mezzo/precision/nf4.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// The numbers of codes of NF4, in memory of this instruction set alone.
constexpr std::array<float, 16> normal_numbers = nf4_values;
constexpr const float* normals = normal_numbers.data();

#if defined(__AVX512BW__)
/// The numbers of codes of 4 bits. A permutation reads the lowest 4 bits of an index.
[[gnu::always_inline]] inline Floats code_numbers(__m512i index) {
  const __m512 table = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1);
  return Floats(_mm512_permutexvar_ps(index, table));
}
/// Numbers of the lower and the upper 4 bits of bytes.
[[gnu::always_inline]] inline Floats low_codes(const Ints& bytes) { return code_numbers(bytes.data); }
[[gnu::always_inline]] inline Floats high_codes(const Ints& bytes) {
  return code_numbers(_mm512_srli_epi32(bytes.data, 4));
}

/// Numbers of the lower and the upper 4 bits of bytes, codes of NF4.
[[gnu::always_inline]] inline Floats low_normals(const Ints& bytes) {
  return Floats(_mm512_permutexvar_ps(bytes.data, _mm512_loadu_ps(normals)));
}
[[gnu::always_inline]] inline Floats high_normals(const Ints& bytes) { return low_normals(bytes >> 4); }

[[gnu::always_inline]] inline Floats byte_codes(const std::uint8_t* p, Whole) {
  return Floats(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)))));
}
[[gnu::always_inline]] inline Floats byte_codes(const std::uint8_t* p, Part part) {
  return Floats(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_maskz_loadu_epi8(part.mask, p))));
}

/// Joins numbers at even and at odd places to 2 * lanes numbers in order.
[[gnu::always_inline]] inline void join_pairs(Floats& a, Floats& b) {
  const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
  const __m512 first = _mm512_permutex2var_ps(a.data, low, b.data);
  b = Floats(_mm512_permutex2var_ps(a.data, high, b.data));
  a = Floats(first);
}
#else
[[gnu::always_inline]] inline Floats low_codes(const Ints& bytes) { return xsimd::to_float((bytes << 28) >> 28); }
[[gnu::always_inline]] inline Floats high_codes(const Ints& bytes) { return xsimd::to_float((bytes << 24) >> 28); }

[[gnu::always_inline]] inline Floats low_normals(const Ints& bytes) {
  return Floats::gather(normals, bytes & Ints(15));
}
[[gnu::always_inline]] inline Floats high_normals(const Ints& bytes) { return low_normals(bytes >> 4); }

template <class Some>
[[gnu::always_inline]] inline Floats byte_codes(const std::uint8_t* p, Some part) {
  return xsimd::to_float((load_ints(p, part) << 24) >> 24);
}

#if defined(__AVX2__)
[[gnu::always_inline]] inline void join_pairs(Floats& a, Floats& b) {
  constexpr int lower = 0x20, upper = 0x31;  // selects these halves of both operands
  const __m256 low = _mm256_unpacklo_ps(a.data, b.data), high = _mm256_unpackhi_ps(a.data, b.data);
  a = Floats(_mm256_permute2f128_ps(low, high, lower));
  b = Floats(_mm256_permute2f128_ps(low, high, upper));
}
#else
[[gnu::always_inline]] inline void join_pairs(Floats& a, Floats& b) {
  const __m128 first = _mm_unpacklo_ps(a.data, b.data);
  b = Floats(_mm_unpackhi_ps(a.data, b.data));
  a = Floats(first);
}
#endif
#endif

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
