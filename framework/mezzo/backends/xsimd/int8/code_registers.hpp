#pragma once
// Registers of codes of a row. Included only by .isa.cpp files.
#include <mezzo/backends/xsimd/int8/vector_codes.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

using Index = std::int64_t;

/// `lanes` columns of codes of 8 bits.
struct Bytes {
  static constexpr int registers = 1;
  static constexpr Index columns_of_byte = 1;

  template <class Some>
  [[gnu::always_inline]] static void load_numbers(const std::uint8_t* codes, Some part, Floats (&numbers)[1]) {
    numbers[0] = byte_codes(codes, part);
  }
  /// Numbers in the order of load_numbers() to the order of columns.
  [[gnu::always_inline]] static void to_columns(Floats (&)[1]) {}
};

/// 2 * lanes columns of codes of 4 bits: even columns, then odd columns.
struct Nibbles {
  static constexpr int registers = 2;
  static constexpr Index columns_of_byte = 2;

  template <class Some>
  [[gnu::always_inline]] static void load_numbers(const std::uint8_t* codes, Some part, Floats (&numbers)[2]) {
    const Ints bytes = load_ints(codes, part);
    numbers[0] = low_codes(bytes);
    numbers[1] = high_codes(bytes);
  }
  [[gnu::always_inline]] static void to_columns(Floats (&x)[2]) { join_pairs(x[0], x[1]); }
};

/// 2 * lanes columns of codes of NF4.
struct Normals : Nibbles {
  template <class Some>
  [[gnu::always_inline]] static void load_numbers(const std::uint8_t* codes, Some part, Floats (&numbers)[2]) {
    const Ints bytes = load_ints(codes, part);
    numbers[0] = low_normals(bytes);
    numbers[1] = high_normals(bytes);
  }
};

/// Calls body(column, byte, part) for the registers of bytes of a row of codes.
template <class Codes, class Body>
[[gnu::always_inline]] inline void for_codes(Index columns, const Body& body) {
  const Index bytes = (columns + Codes::columns_of_byte - 1) / Codes::columns_of_byte;
  for_registers(0, bytes, [&](Index byte, auto part) { body(byte * Codes::columns_of_byte, byte, part); });
}

/// `count` numbers, at most a register; 0 behind them.
[[gnu::always_inline]] inline Floats load_some(const float* from, Index count) {
  if (count >= lanes) return load(from, Whole{});
  return count > 0 ? load(from, first_lanes(count)) : Floats(0.0F);
}
[[gnu::always_inline]] inline Floats load_some(const std::int8_t* from, Index count) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(from);
  if (count >= lanes) return byte_codes(bytes, Whole{});
  return count > 0 ? byte_codes(bytes, first_lanes(count)) : Floats(0.0F);
}

/// Numbers of a group for the columns of the registers of a code; 0 behind the last column.
template <class Codes, class T>
[[gnu::always_inline]] inline void load_columns(const T* from, Index column, Index columns,
                                                Floats (&numbers)[Codes::registers]) {
  for (int j = 0; j < Codes::registers; ++j) {
    const Index first = column + j * lanes;
    numbers[j] = load_some(from + first, columns - first);
  }
}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
