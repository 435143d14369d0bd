#pragma once
// Slots in 8 bits from and to float32. Included by an .isa.cpp.
#include <algorithm>
#include <cmath>
#include <cstring>

#include <mezzo/backends/xsimd/vector.hpp>
#include <mezzo/core/dynamic_code_tables.hpp>

#if defined(__AVX512BW__)
#include <mezzo/backends/xsimd/slot_codes_avx512.hpp>
#else
#include <mezzo/backends/xsimd/slot_codes_narrow.hpp>
#endif

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

template <bool has_sign>
[[gnu::flatten]] void load_codes(const DynamicCode& code, const std::uint8_t* codes, float scale, float* to,
                                 std::int64_t count) {
  const Floats factor(scale);
  const Decoder<has_sign> number_of(code);
  for_registers(0, count, [&](std::int64_t i, auto part) { store(to + i, number_of(codes + i, part) * factor, part); });
}

void decode_slot(const DynamicCode& code, const std::uint8_t* codes, float scale, float* to, std::int64_t count) {
  code.has_sign ? load_codes<true>(code, codes, scale, to, count) : load_codes<false>(code, codes, scale, to, count);
}

template <bool has_sign>
[[gnu::flatten]] void store_codes(const DynamicCode& code, const float* from, float scale, std::int64_t count,
                                  std::uint8_t* codes) {
  const Encoder<has_sign> code_of(code);
  const auto each = [&](const auto& divide) {
    for_registers(0, count, [&](std::int64_t i, auto part) {
      const Floats x = load(from + i, part);
      store_bytes(codes + i, code_of(divide(x), x) & Ints(0xff), part);
    });
  };
  if (detail::has_inverse(scale)) {
    const Floats inverse(1 / scale);
    each([&](const Floats& x) { return x * inverse; });
  } else {
    const Floats divisor(scale);
    each([&](const Floats& x) { return x / divisor; });
  }
}

float encode_slot(const DynamicCode& code, const float* from, std::int64_t count, std::uint8_t* codes) {
  Largest largest;
  for_registers(0, count, [&](std::int64_t i, auto part) { largest.add(load(from + i, part)); });
  const float scale = largest.scale();
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
