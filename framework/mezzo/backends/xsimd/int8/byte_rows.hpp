#pragma once
// Rows of numbers that become codes of 8 bits. Included only by .isa.cpp files, for AVX-512.
#include <cstdint>

#include <mezzo/backends/xsimd/int8/vector_bytes.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// The largest magnitude of a row.
template <class T>
[[gnu::always_inline]] inline std::int32_t largest_magnitude(const T* row, std::int64_t depth) {
  Ints largest[4] = {Ints(0), Ints(0), Ints(0), Ints(0)};
  std::int64_t k = 0;
  for (; k + 4 * lanes <= depth; k += 4 * lanes) {
    for (int i = 0; i < 4; ++i) largest[i] = xsimd::max(largest[i], magnitude_bits(load(row + k + i * lanes, Whole{})));
  }
  for_registers(k, depth, [&](std::int64_t i, auto part) {
    largest[0] = xsimd::max(largest[0], magnitude_bits(load(row + i, part)));
  });
  return largest_lane(xsimd::max(xsimd::max(largest[0], largest[1]), xsimd::max(largest[2], largest[3])));
}

/// The codes of 4 * lanes numbers, of which `count` are read.
template <bool clips = false, class T>
[[gnu::always_inline]] inline IntRegister codes_of(const T* from, std::int64_t count, const Floats& inverse) {
  IntRegister ints[4];
  for (int i = 0; i < 4; ++i) {
    const std::int64_t rest = count - i * lanes;
    Floats x(0.0F);
    if (rest >= lanes) {
      x = load(from + i * lanes, Whole{});
    } else if (rest > 0) {
      x = load(from + i * lanes, first_lanes(rest));
    }
    x = x * inverse;
    if constexpr (clips) x = xsimd::min(xsimd::max(x, Floats(-127.0F)), Floats(127.0F));
    ints[i] = round_to_ints(x);
  }
  return to_bytes(ints[0], ints[1], ints[2], ints[3]);
}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
