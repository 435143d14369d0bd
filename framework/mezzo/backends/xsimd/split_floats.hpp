#pragma once
// SplitFloat of core/split_float.hpp in registers, for .isa.cpp files.
#include <mezzo/backends/xsimd/vector.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// Stores int32 values that fit in int16 as int16.
template <class Half>
[[gnu::always_inline]] inline void store_shortened(Half* p, const Ints& x, Whole) {
#if defined(__AVX512BW__)
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm512_cvtepi32_epi16(x));
#elif defined(__AVX2__)
  const __m256i packed = _mm256_permute4x64_epi64(_mm256_packs_epi32(x, x), 0x08);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_castsi256_si128(packed));
#else
  _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packs_epi32(x, x));
#endif
}

template <class Half>
[[gnu::always_inline]] inline void store_shortened(Half* p, const Ints& x, Part part) {
#if defined(__AVX512BW__)
  _mm256_mask_storeu_epi16(p, part.mask, _mm512_cvtepi32_epi16(x));
#else
  Half whole[lanes];
  store_shortened(whole, x, Whole{});
  for (int i = 0; i < part.count; ++i) p[i] = whole[i];
#endif
}

/// Loads SplitFloats as float32. `low` points to int16; its type is bfloat16 because load() has no int16.
template <class Some>
[[gnu::always_inline]] inline Floats load_split(const bfloat16* high, const bfloat16* low, Some part) {
  const Ints upper = xsimd::bitwise_cast<Ints>(load(high, part));
  // Loaded to the upper 16 bits, as a bfloat16 is. The shift extends the sign.
  const Ints lower = xsimd::bitwise_cast<Ints>(load(low, part));
  return xsimd::bitwise_cast<Floats>(upper + (lower >> 16));
}

template <class Some>
[[gnu::always_inline]] inline void store_split(bfloat16* high, bfloat16* low, const Floats& x, Some part) {
  const Ints bits = xsimd::bitwise_cast<Ints>(x);
  const Ints upper = (bits + Ints(0x8000)) & ~Ints(0xffff);
  const Floats kept = xsimd::select(x == x, xsimd::bitwise_cast<Floats>(upper),
                                    xsimd::bitwise_cast<Floats>((bits & ~Ints(0xffff)) | Ints(0x400000)));
  const Floats rest = xsimd::select(x == x, xsimd::bitwise_cast<Floats>(bits - upper), Floats(0.0F));
  store_shortened(high, xsimd::bitwise_cast<Ints>(kept) >> 16, part);
  store_shortened(low, xsimd::bitwise_cast<Ints>(rest), part);
}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
