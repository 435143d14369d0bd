#pragma once
// Slots in 8 bits with registers of less than 16 numbers. Included only by slot_codes.hpp.
#include <algorithm>
#include <cstdint>

#include <mezzo/backends/xsimd/eight_floats.hpp>
#include <mezzo/backends/xsimd/vector.hpp>
#include <mezzo/core/dynamic_code.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

using detail::DynamicCode;

static_assert(DynamicCode::segment_count == 8, "EightFloats have a number of each segment");

/// Numbers of codes, without the scale.
template <bool has_sign>
class Decoder {
 public:
  explicit Decoder(const DynamicCode& code) : powers_(code.powers) {}

  template <class Some>
  [[gnu::always_inline]] Floats operator()(const std::uint8_t* codes, Some part) const {
    const Ints bytes = load_ints(codes, part), zero(0);
    const Ints rank = has_sign ? ((bytes << 24) >> 24) + Ints(1) : bytes;
    const Ints magnitude = has_sign ? xsimd::abs(rank) : rank;
    // The exponent of the place is the decade, its mantissa the middle of a part of it.
    const Ints place = xsimd::bitwise_cast<Ints>(xsimd::to_float(magnitude) + Floats(has_sign ? 0.5F : 1.5F));
    const Floats power = powers_((place >> 23) - Ints(has_sign ? 127 : 128));
    const Floats middle = xsimd::bitwise_cast<Floats>((place & Ints(0x7fffff)) | Ints(0x3f800000)) - Floats(1.0F);
    Floats number = (middle * Floats(0.9F) + Floats(0.1F)) * power;
    number = choose(magnitude == Ints(has_sign ? 128 : 255), Floats(1.0F), number);
    number = choose(magnitude == zero, Floats(0.0F), number);
    return has_sign ? choose(rank < zero, -number, number) : number;
  }

 private:
  EightFloats powers_;
};

/// Codes of numbers that are divided by their scale.
template <bool has_sign>
class Encoder {
 public:
  explicit Encoder(const DynamicCode& code)
      : zero_(code.zero),
        from_(code.segments.from),
        factor_(code.segments.factor),
        offset_(code.segments.offset),
        last_(code.segments.last),
        first_(code.segments.from[0]),
        middle_(code.segments.from[4]),
        least_rank_(code.least_rank) {}

  /// In the lowest 8 bits. x: the numbers before the division.
  [[gnu::always_inline]] Ints operator()(const Floats& quotient, const Floats& x) const {
    const Ints rank = rank_of(xsimd::abs(quotient));
    if constexpr (has_sign) {
      const Ints below_zero = xsimd::bitwise_cast<Ints>(quotient) >> 31;  // -1 or 0
      const Ints held = xsimd::select((below_zero < Ints(0)) & (rank > Ints(127)), Ints(127), rank);
      return zero_ + ((held ^ below_zero) - below_zero);
    } else {
      return xsimd::select(xsimd::bitwise_cast<Ints>(xsimd::abs(x)) == Ints(0), Ints(0), rank);
    }
  }

 private:
  /// Ranks of magnitudes of at most 1. The segment is found by bisection.
  [[gnu::always_inline]] Ints rank_of(const Floats& magnitude) const {
    Ints segment = one_if(magnitude >= middle_) << 2;
    segment = segment | (one_if(magnitude >= from_(segment | Ints(2))) << 1);
    segment = segment | one_if(magnitude >= from_(segment | Ints(1)));
    const Floats rank = magnitude * factor_(segment) + offset_(segment);
    const Floats held = xsimd::min(rank, last_(segment));
    return xsimd::to_int(xsimd::select(magnitude >= first_, held, least_rank_));
  }

  [[gnu::always_inline]] static Ints one_if(const Mask& mask) {
    return xsimd::bitwise_cast<Ints>(xsimd::select(mask, xsimd::bitwise_cast<Floats>(Ints(1)), Floats(0.0F)));
  }

  Ints zero_;
  EightFloats from_, factor_, offset_, last_;
  Floats first_, middle_, least_rank_;
};

/// The number of the largest magnitude of some.
class Largest {
 public:
  [[gnu::always_inline]] void add(const Floats& x) {
    const Ints magnitude = xsimd::bitwise_cast<Ints>(x) & Ints(0x7fffffff);
    magnitudes_ = xsimd::select(magnitude > magnitudes_, magnitude, magnitudes_);
    numbers_ = xsimd::select(x > numbers_, x, numbers_);
  }

  float scale() const {
    std::int32_t largest[lanes];
    float highest[lanes];
    magnitudes_.store_unaligned(largest);
    numbers_.store_unaligned(highest);
    return DynamicCode::scale_of(static_cast<std::uint32_t>(*std::max_element(largest, largest + lanes)),
                                 *std::max_element(highest, highest + lanes));
  }

 private:
  Ints magnitudes_ = Ints(0);
  Floats numbers_ = Floats(0.0F);
};

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
