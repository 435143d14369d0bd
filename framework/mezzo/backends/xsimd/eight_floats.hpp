#pragma once
// Included only by .isa.cpp files.
#include <mezzo/backends/xsimd/vector.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// Table of eight numbers: each lane takes that of the lowest 3 bits of its index.
#if defined(__AVX512BW__)
class EightFloats {
 public:
  explicit EightFloats(const float (&numbers)[8]) : numbers_(_mm512_broadcast_f32x8(_mm256_loadu_ps(numbers))) {}
  [[gnu::always_inline]] Floats operator()(const Ints& index) const {
    return Floats(_mm512_permutexvar_ps(index.data, numbers_));
  }

 private:
  __m512 numbers_;
};
#elif defined(__AVX2__)
class EightFloats {
 public:
  explicit EightFloats(const float (&numbers)[8]) : numbers_(_mm256_loadu_ps(numbers)) {}
  [[gnu::always_inline]] Floats operator()(const Ints& index) const {
    return Floats(_mm256_permutevar8x32_ps(numbers_, index.data));
  }

 private:
  __m256 numbers_;
};
#else
class EightFloats {
 public:
  explicit EightFloats(const float (&numbers)[8]) : numbers_(numbers) {}
  [[gnu::always_inline]] Floats operator()(const Ints& index) const {
    return Floats::gather(numbers_, index & Ints(7));
  }

 private:
  const float* numbers_;
};
#endif

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
