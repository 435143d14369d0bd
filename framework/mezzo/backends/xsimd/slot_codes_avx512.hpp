#pragma once
// Slots in 8 bits with AVX-512, whose registers hold tables of 16 and 32 numbers. Included only by slot_codes.hpp.
#include <algorithm>
#include <cstdint>

#include <mezzo/backends/xsimd/vector.hpp>
#include <mezzo/core/dynamic_code_tables.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

using detail::DynamicCode;
using detail::DynamicCodeTables;

/// Numbers of codes, without the scale.
template <bool has_sign>
class Decoder {
 public:
  explicit Decoder(const DynamicCode&) : powers_(_mm512_loadu_ps(DynamicCodeTables::of(has_sign).powers)) {}

  template <class Some>
  [[gnu::always_inline]] Floats operator()(const std::uint8_t* codes, Some part) const {
    if constexpr (has_sign) {
      const __m512i rank = _mm512_add_epi32(_mm512_cvtepi8_epi32(bytes(codes, part)), _mm512_set1_epi32(1));
      const __m512i number = _mm512_castps_si512(magnitude(_mm512_abs_epi32(rank), 0.5F).data);
      constexpr int first_or_second_and_third = 0xf8;
      return _mm512_castsi512_ps(_mm512_ternarylogic_epi32(
          number, rank, _mm512_set1_epi32(static_cast<int>(0x80000000U)), first_or_second_and_third));
    } else {
      return magnitude(_mm512_cvtepu8_epi32(bytes(codes, part)), 1.5F);
    }
  }

 private:
  [[gnu::always_inline]] static __m128i bytes(const std::uint8_t* p, Whole) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
  [[gnu::always_inline]] static __m128i bytes(const std::uint8_t* p, Part part) {
    return _mm_maskz_loadu_epi8(part.mask, p);
  }

  // The exponent of the place is the decade, its mantissa the middle of a part of it.
  [[gnu::always_inline]] Floats magnitude(__m512i rank, float shift) const {
    const Floats place = Floats(_mm512_cvtepi32_ps(rank)) + Floats(shift);
    const __m512i bits = _mm512_castps_si512(place.data);
    const Floats power = _mm512_permutexvar_ps(_mm512_srli_epi32(bits, 23), powers_);
    constexpr int first_and_second_or_third = 0xea;
    const Floats mantissa = _mm512_castsi512_ps(_mm512_ternarylogic_epi32(
        bits, _mm512_set1_epi32(0x7fffff), _mm512_set1_epi32(0x3f800000), first_and_second_or_third));
    return ((mantissa - Floats(1.0F)) * Floats(0.9F) + Floats(0.1F)) * power;
  }

  __m512 powers_;
};

/// Codes of numbers that are divided by their scale.
template <bool has_sign>
class Encoder {
 public:
  explicit Encoder(const DynamicCode&) : Encoder(DynamicCodeTables::of(has_sign)) {}

  /// In the lowest 8 bits. x: the numbers before the division.
  [[gnu::always_inline]] Ints operator()(const Floats& quotient, const Floats& x) const {
    const __m512i rank = rank_of(xsimd::abs(quotient));
    if constexpr (has_sign) {
      const __mmask16 negative = _mm512_movepi32_mask(_mm512_castps_si512(quotient.data));
      const __m512i held = _mm512_mask_min_epi32(rank, negative, rank, _mm512_set1_epi32(127));
      const __m512i code = _mm512_mask_sub_epi32(held, negative, _mm512_set1_epi32(0), held);
      return _mm512_sub_epi32(code, _mm512_set1_epi32(1));
    } else {
      const __mmask16 positive = _mm512_test_epi32_mask(_mm512_castps_si512(x.data), _mm512_set1_epi32(0x7fffffff));
      return _mm512_maskz_mov_epi32(positive, rank);
    }
  }

 private:
  explicit Encoder(const DynamicCodeTables& tables)
      : begun_{_mm512_loadu_si512(tables.begun), _mm512_loadu_si512(tables.begun + lanes)},
        next_{_mm512_loadu_ps(tables.next), _mm512_loadu_ps(tables.next + lanes)},
        factor_(_mm512_loadu_ps(tables.factor)),
        offset_(_mm512_loadu_ps(tables.offset)),
        last_(_mm512_loadu_ps(tables.last)) {}

  /// Ranks of magnitudes of at most 1.
  [[gnu::always_inline]] __m512i rank_of(const Floats& magnitude) const {
    const __m512 x = _mm512_max_ps(magnitude.data, _mm512_set1_ps(0x1p-31F));
    const __m512i exponent = _mm512_srli_epi32(_mm512_castps_si512(x), 23);
    const __m512i begun = _mm512_permutex2var_epi32(begun_[0], exponent, begun_[1]);
    const __mmask16 one_more = _mm512_cmp_ps_mask(x, _mm512_permutex2var_ps(next_[0], exponent, next_[1]), _CMP_GE_OQ);
    const __m512i segment = _mm512_mask_add_epi32(begun, one_more, begun, _mm512_set1_epi32(1));
    const Floats rank =
        Floats(x) * Floats(_mm512_permutexvar_ps(segment, factor_)) + Floats(_mm512_permutexvar_ps(segment, offset_));
    return _mm512_cvttps_epi32(_mm512_min_ps(rank.data, _mm512_permutexvar_ps(segment, last_)));
  }

  __m512i begun_[2];
  __m512 next_[2], factor_, offset_, last_;
};

/// The number of the largest magnitude of some.
class Largest {
 public:
  [[gnu::always_inline]] void add(const Floats& x) {
    // The magnitude, then a bit that is set for positive numbers.
    const __m512i positive =
        _mm512_xor_si512(_mm512_castps_si512(x.data), _mm512_set1_epi32(static_cast<int>(0x80000000U)));
    keys_ = _mm512_max_epu32(keys_, _mm512_rol_epi32(positive, 1));
  }

  float scale() const {
    const std::uint32_t key = _mm512_reduce_max_epu32(keys_), bits = key >> 1;
    float largest = 0;
    __builtin_memcpy(&largest, &bits, sizeof largest);
    return DynamicCode::scale_of(bits, (key & 1U) != 0 ? largest : 0);
  }

 private:
  __m512i keys_ = _mm512_set1_epi32(0);
};

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
