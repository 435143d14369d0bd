#pragma once
// The random words of core/random.hpp in registers, and dropout of a register, for .isa.cpp files.
#include <mezzo/backends/xsimd/vector.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

using Words = xsimd::batch<std::uint32_t, Arch>;

/// Number of words that one call of Philox generates from a register of counters.
constexpr int batch = 4 * lanes;

/// philox(stream, n) of core/random.hpp for `lanes` counters.
struct Philox {
  std::uint32_t keys[10][2];
  Words order;

  explicit Philox(std::uint64_t stream) {
    std::uint32_t k0 = static_cast<std::uint32_t>(stream), k1 = static_cast<std::uint32_t>(stream >> 32);
    for (auto& key : keys) {
      key[0] = k0;
      key[1] = k1;
      k0 += 0x9E3779B9U;
      k1 += 0xBB67AE85U;
    }
    // With the counters in this order, transposing the 128-bit lanes puts the words in sequence.
    std::uint32_t offsets[lanes];
    for (unsigned i = 0; i < lanes; ++i) offsets[i] = i % 4 * (lanes / 4) + i / 4;
    order = Words::load_unaligned(offsets);
  }

  /// Generates the words of `lanes` counters from `first` on, a multiple of `lanes`.
  [[gnu::always_inline]] inline void operator()(std::uint64_t first, Words (&words)[4]) const {
    const Words factor_0(0xD2511F53U), factor_1(0xCD9E8D57U);
    Words x0 = order + Words(static_cast<std::uint32_t>(first)), x1(static_cast<std::uint32_t>(first >> 32));
    Words x2(0U), x3(0U);
    for (const auto& key : keys) {
      IntRegister high_0, low_0, high_1, low_1;
      multiply_wide(x0, factor_0, high_0, low_0);
      multiply_wide(x2, factor_1, high_1, low_1);
      x0 = Words(high_1) ^ x1 ^ Words(key[0]);
      x1 = low_1;
      x2 = Words(high_0) ^ x3 ^ Words(key[1]);
      x3 = low_0;
    }
    IntRegister a = x0, b = x1, c = x2, d = x3;
    transpose_lanes(a, b, c, d);
    words[0] = a;
    words[1] = b;
    words[2] = c;
    words[3] = d;
  }
};

/// x in lanes whose 24 upper bits of the word are greater than `below`, else 0.
[[gnu::always_inline]] inline Floats kept(const Floats& x, const Words& word, const Ints& below) {
  return choose(xsimd::bitwise_cast<Ints>(word >> 8) > below, x, Floats(0.0F));
}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
