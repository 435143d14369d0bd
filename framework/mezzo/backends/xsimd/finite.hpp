#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

struct FiniteFunctions {
  /// 0 if the products of all elements and the factor are finite, else NaN.
  using Check = double (*)(const void* x, std::int64_t count, float factor);

  /// The sum of squares, in double; finite if and only if all elements are finite. Ignores the factor.
  using Squares = Check;

  /// Numbers in place of NaN, infinity and -infinity.
  struct Replacements {
    float nan, high, low;
  };

  /// y = x with these numbers replaced. y may be x.
  using Replace = void (*)(const void* x, void* y, std::int64_t count, const Replacements& replacements);

  PerStorage<Check> check;
  PerStorage<Squares> squares;
  PerStorage<Replace> replace;
};

MEZZO_ISA_TABLE(FiniteFunctions, finite)

Entries finite_entries();

}  // namespace mezzo::xsimd_kernels
