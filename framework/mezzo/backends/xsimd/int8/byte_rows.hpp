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

/// The same, with twice as many numbers in a register.
template <>
[[gnu::always_inline]] inline std::int32_t largest_magnitude(const bfloat16* row, std::int64_t depth) {
  constexpr std::int64_t width = 2 * lanes;
  IntRegister largest[4] = {Ints(0).data, Ints(0).data, Ints(0).data, Ints(0).data};
  const auto compare = [&](IntRegister& most, std::int64_t k) {
    most = larger_halves(most, half_magnitudes(load_halves(row + k, depth - k)));
  };
  std::int64_t k = 0;
  for (; k + 4 * width <= depth; k += 4 * width) {
    for (int i = 0; i < 4; ++i) compare(largest[i], k + i * width);
  }
  for (; k < depth; k += width) compare(largest[0], k);
  return largest_half(larger_halves(larger_halves(largest[0], largest[1]), larger_halves(largest[2], largest[3])));
}

/// x times inverse, at most 127 in magnitude if it clips, rounded.
template <bool clips>
[[gnu::always_inline]] inline IntRegister rounded_codes(const Floats& x, const Floats& inverse) {
  const Floats y = x * inverse;
  return round_to_ints(clips ? xsimd::min(xsimd::max(y, Floats(-127.0F)), Floats(127.0F)) : y);
}

/// The codes of 4 * lanes numbers, of which `count` are read.
template <bool clips = false>
[[gnu::always_inline]] inline IntRegister codes_of(const bfloat16* from, std::int64_t count, const Floats& inverse) {
  IntRegister words[2];
  for (int i = 0; i < 2; ++i) {
    const IntRegister halves = load_halves(from + 2 * i * lanes, count - 2 * i * lanes);
    words[i] = join_words(rounded_codes<clips>(even_halves(halves), inverse),
                          rounded_codes<clips>(odd_halves(halves), inverse));
  }
  return words_to_bytes(words[0], words[1]);
}
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
    ints[i] = rounded_codes<clips>(x, inverse);
  }
  return to_bytes(ints[0], ints[1], ints[2], ints[3]);
}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
