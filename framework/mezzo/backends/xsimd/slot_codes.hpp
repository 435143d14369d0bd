#pragma once
// Slots in 8 bits from and to float32. Included by an .isa.cpp.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <mezzo/backends/xsimd/eight_floats.hpp>
#include <mezzo/backends/xsimd/vector.hpp>
#include <mezzo/core/dynamic_code.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

using detail::DynamicCode;

/// Numbers of codes, without the scale.
template <bool has_sign>
[[gnu::always_inline]] inline Floats number_of(const EightFloats& powers, const Ints& bytes) {
  const Ints zero(0);
  const Ints rank = has_sign ? ((bytes << 24) >> 24) + Ints(1) : bytes;
  const Ints magnitude = has_sign ? xsimd::abs(rank) : rank;
  // The exponent of the place is the decade, its mantissa the middle of a part of it.
  const Ints place = xsimd::bitwise_cast<Ints>(xsimd::to_float(magnitude) + Floats(has_sign ? 0.5F : 1.5F));
  const Floats power = powers((place >> 23) - Ints(has_sign ? 127 : 128));
  const Floats part = xsimd::bitwise_cast<Floats>((place & Ints(0x7fffff)) | Ints(0x3f800000)) - Floats(1.0F);
  Floats number = (part * Floats(0.9F) + Floats(0.1F)) * power;
  number = choose(magnitude == Ints(has_sign ? 128 : 255), Floats(1.0F), number);
  number = choose(magnitude == zero, Floats(0.0F), number);
  return has_sign ? choose(rank < zero, -number, number) : number;
}

template <bool has_sign>
[[gnu::flatten]] void load_codes(const DynamicCode& code, const std::uint8_t* codes, float scale, float* to,
                                 std::int64_t count) {
  const Floats factor(scale);
  const EightFloats powers(code.powers);
  for_registers(0, count, [&](std::int64_t i, auto part) {
    store(to + i, number_of<has_sign>(powers, load_ints(codes + i, part)) * factor, part);
  });
}

void decode_slot(const DynamicCode& code, const std::uint8_t* codes, float scale, float* to, std::int64_t count) {
  code.has_sign ? load_codes<true>(code, codes, scale, to, count) : load_codes<false>(code, codes, scale, to, count);
}

static_assert(DynamicCode::segment_count == 8, "EightFloats have a number of each segment");

/// DynamicCode's segments in registers.
struct Segments {
  explicit Segments(const DynamicCode& code)
      : from(code.segments.from),
        factor(code.segments.factor),
        offset(code.segments.offset),
        last(code.segments.last),
        first(code.segments.from[0]),
        middle(code.segments.from[4]),
        least_rank(code.least_rank) {}

  /// Ranks of magnitudes of at most 1. The segment is found by bisection.
  [[gnu::always_inline]] Ints rank_of(const Floats& magnitude) const {
    Ints segment = one_if(magnitude >= middle) << 2;
    segment = segment | (one_if(magnitude >= from(segment | Ints(2))) << 1);
    segment = segment | one_if(magnitude >= from(segment | Ints(1)));
    const Floats rank = magnitude * factor(segment) + offset(segment);
    const Floats held = xsimd::min(rank, last(segment));
    return xsimd::to_int(xsimd::select(magnitude >= first, held, least_rank));
  }

 private:
  [[gnu::always_inline]] static Ints one_if(const Mask& mask) {
    return xsimd::bitwise_cast<Ints>(xsimd::select(mask, xsimd::bitwise_cast<Floats>(Ints(1)), Floats(0.0F)));
  }

  EightFloats from, factor, offset, last;
  Floats first, middle, least_rank;
};

/// Codes of the numbers x of a block with that scale, in the lowest 8 bits.
template <bool has_sign>
[[gnu::always_inline]] inline Ints code_of(const DynamicCode& code, const Segments& segments, const Floats& x,
                                           const Floats& scale) {
  const Floats quotient = x / scale;
  const Ints rank = segments.rank_of(xsimd::abs(quotient));
  if constexpr (has_sign) {
    const Ints below_zero = xsimd::bitwise_cast<Ints>(quotient) >> 31;  // -1 or 0
    const Ints held = xsimd::select((below_zero < Ints(0)) & (rank > Ints(127)), Ints(127), rank);
    return Ints(code.zero) + ((held ^ below_zero) - below_zero);
  } else {
    return xsimd::select(xsimd::bitwise_cast<Ints>(xsimd::abs(x)) == Ints(0), Ints(0), rank);
  }
}

template <bool has_sign>
[[gnu::flatten]] void store_codes(const DynamicCode& code, const float* from, float scale, std::int64_t count,
                                  std::uint8_t* codes) {
  const Floats divisor(scale);
  const Segments segments(code);
  for_registers(0, count, [&](std::int64_t i, auto part) {
    const Ints some = code_of<has_sign>(code, segments, load(from + i, part), divisor);
    store_bytes(codes + i, some & Ints(0xff), part);
  });
}

float encode_slot(const DynamicCode& code, const float* from, std::int64_t count, std::uint8_t* codes) {
  Ints magnitudes(0);
  Floats numbers(0.0F);
  for_registers(0, count, [&](std::int64_t i, auto part) {
    const Floats x = load(from + i, part);
    const Ints magnitude = xsimd::bitwise_cast<Ints>(x) & Ints(0x7fffffff);
    magnitudes = xsimd::select(magnitude > magnitudes, magnitude, magnitudes);
    numbers = xsimd::select(x > numbers, x, numbers);
  });
  std::int32_t largest[lanes];
  float highest[lanes];
  magnitudes.store_unaligned(largest);
  numbers.store_unaligned(highest);
  const float scale = DynamicCode::scale_of(static_cast<std::uint32_t>(*std::max_element(largest, largest + lanes)),
                                            *std::max_element(highest, highest + lanes));
  if (!(std::abs(scale) > 0)) {
    std::memset(codes, code.zero, static_cast<std::size_t>(count));
  } else if (code.has_sign) {
    store_codes<true>(code, from, scale, count, codes);
  } else {
    store_codes<false>(code, from, scale, count, codes);
  }
  return scale;
}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
