#pragma once
// Loops over groups of registers, for .isa.cpp files. Bodies take a group as they take a register: with load, store and
// the operations of Several.
#include <mezzo/backends/xsimd/several.hpp>
#include <mezzo/backends/xsimd/stream.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// Registers that are computed together.
constexpr int together = lanes == 16 ? 2 : 4;

/// The place of a Part or Whole for `together` whole registers, one after the other in memory.
struct Group {};
using Grouped = Several<Floats, together>;

template <class T>
[[gnu::always_inline]] inline Grouped load(const T* p, Group) {
  Grouped x;
#pragma GCC unroll 8
  for (int i = 0; i < together; ++i) x.at[i] = load(p + i * lanes, Whole{});
  return x;
}

template <class T>
[[gnu::always_inline]] inline void store(T* p, const Grouped& x, Group) {
#pragma GCC unroll 8
  for (int i = 0; i < together; ++i) store(p + i * lanes, x.at[i], Whole{});
}

[[gnu::always_inline]] inline auto load_ints(const std::uint8_t* p, Group) {
  Several<Ints, together> x;
#pragma GCC unroll 8
  for (int i = 0; i < together; ++i) x.at[i] = load_ints(p + i * lanes, Whole{});
  return x;
}

[[gnu::always_inline]] inline Grouped only(const Grouped& x, const Floats&, Group) { return x; }

/// The registers of a group of sums or maxima to which a Group, Whole or Part contributes.
[[gnu::always_inline]] inline Grouped& part_of(Grouped& x, Group) { return x; }
template <class Some>
[[gnu::always_inline]] inline Floats& part_of(Grouped& x, Some) {
  return x.at[0];
}

/// Combines the registers of a group by function(a, b).
template <class Function>
[[gnu::always_inline]] inline Floats combine(const Grouped& x, const Function& function) {
  Floats all = x.at[0];
#pragma GCC unroll 8
  for (int i = 1; i < together; ++i) all = function(all, x.at[i]);
  return all;
}

[[gnu::always_inline]] inline float sum_lanes(const Grouped& x) {
  return sum_lanes(combine(x, [](const Floats& a, const Floats& b) { return a + b; }).data);
}
[[gnu::always_inline]] inline float max_lanes(const Grouped& x) {
  return max_lanes(combine(x, [](const Floats& a, const Floats& b) { return xsimd::max(a, b); }).data);
}

/// True for a function of registers that takes groups: `Groups` is Grouped for each operand.
template <class Function, class... Groups>
constexpr bool takes_groups = std::is_invocable_v<Function, const Groups&...>;

/// for_registers() with groups as far as there are whole ones.
template <class Body>
[[gnu::always_inline]] inline void for_groups(std::int64_t begin, std::int64_t end, const Body& body) {
  for (; begin + together * lanes <= end; begin += together * lanes) body(begin, Group{});
  for_registers(begin, end, body);
}

/// stream() with groups.
template <class Body, class... Arrays>
[[gnu::always_inline]] inline void stream_groups(std::int64_t n, const Body& body, const Arrays*... arrays) {
  static_assert(stride % (together * lanes) == 0);
  std::int64_t i = 0;
  for (; i + stride <= n; i += stride) {
    (prefetch_ahead(arrays + i), ...);
    for (std::int64_t j = 0; j < stride; j += together * lanes) body(i + j, Group{});
  }
  for_registers(i, n, body);
}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
