#pragma once
// Rows of codes as floats. Included only by .isa.cpp files.
#include <algorithm>

#include <mezzo/backends/xsimd/int8/code_registers.hpp>
#include <mezzo/backends/xsimd/int8/dequantized_row.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// Columns [begin, end) of a row. `number(column, codes, part)` returns their numbers.
template <class Codes, class T, class Number>
[[gnu::always_inline]] inline void dequantize_columns(const DequantizedRow& p, Index begin, Index end,
                                                      const Number& number) {
  const std::uint8_t* const codes = static_cast<const std::uint8_t*>(p.codes) + begin / Codes::columns_of_byte;
  T* const out = static_cast<T*>(p.out);
  for_codes<Codes>(end - begin, [&](Index column, Index byte, auto part) {
    Floats numbers[Codes::registers];
    Codes::load_numbers(codes + byte, part, numbers);
    Codes::to_columns(numbers);
    for (int j = 0; j < Codes::registers; ++j) {
      const Index first = begin + column + j * lanes;
      if (first + lanes <= end) {
        store(out + first, number(first, numbers[j], Whole{}), Whole{});
      } else if (first < end) {
        const Part rest = first_lanes(end - first);
        store(out + first, number(first, numbers[j], rest), rest);
      }
    }
  });
}

/// The formulas of the op, in the order of the reference. Zeros are bytes of 8 bits for all codes.
template <class Codes, class T>
[[gnu::flatten]] void dequantize_row(const DequantizedRow& p) {
  const auto* const zeros = reinterpret_cast<const std::uint8_t*>(p.zeros);
  const bool divides = p.zeros == nullptr && !p.nf4;
  if (p.run == 1) {
    dequantize_columns<Codes, T>(p, 0, p.columns, [&](Index column, const Floats& codes, auto part) {
      const Floats scale = load(p.scales + column, part);
      if (divides) return codes / scale;
      return (zeros == nullptr ? codes : codes - byte_codes(zeros + column, part)) * scale;
    });
    return;
  }
  const Index width = p.run == 0 ? p.columns : p.run;
  for (Index begin = 0, of = 0; begin < p.columns; begin += width, ++of) {
    const Floats scale(p.scales[of]), zero(zeros == nullptr ? 0.0F : static_cast<float>(p.zeros[of]));
    dequantize_columns<Codes, T>(p, begin, std::min(p.columns, begin + width), [&](Index, const Floats& codes, auto) {
      if (divides) return codes / scale;
      return (zeros == nullptr ? codes : codes - zero) * scale;
    });
  }
}

template <class T>
void dequantize(const DequantizedRow& p) {
  if (p.bits == 8) return dequantize_row<Bytes, T>(p);
  p.nf4 ? dequantize_row<Normals, T>(p) : dequantize_row<Nibbles, T>(p);
}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
