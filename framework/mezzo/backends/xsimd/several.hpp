#pragma once
// Several registers that one function computes operation by operation, for .isa.cpp files. Each operation of a
// polynomial waits for the one before, and the schedulers of a core hold about 64 vector operations: those of two or
// three registers that are computed one after the other. Functions of math.hpp take Floats or Several<Floats, n>.
#include <mezzo/backends/xsimd/vector.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// `Register` is Floats, Ints or a mask of these.
template <class Register, int n>
struct Several {
  Register at[n];

  Several() = default;
  /// The same number in all lanes.
  template <class Number>
  [[gnu::always_inline]] explicit Several(Number number) {
    for (Register& one : at) one = Register(number);
  }
};

/// function of one register each.
template <class Function, class... Registers>
[[gnu::always_inline]] inline auto each(const Function& function, const Registers&... x) {
  return function(x...);
}
template <class Function, int n, class... Registers>
[[gnu::always_inline]] inline auto each(const Function& function, const Several<Registers, n>&... x) {
  Several<decltype(function(x.at[0]...)), n> y;
#pragma GCC unroll 8
  for (int i = 0; i < n; ++i) y.at[i] = function(x.at[i]...);
  return y;
}

template <class A, class B, int n>
[[gnu::always_inline]] inline auto operator+(const Several<A, n>& a, const Several<B, n>& b) {
  return each([](const A& x, const B& y) { return x + y; }, a, b);
}
template <class A, class B, int n>
[[gnu::always_inline]] inline auto operator-(const Several<A, n>& a, const Several<B, n>& b) {
  return each([](const A& x, const B& y) { return x - y; }, a, b);
}
template <class A, class B, int n>
[[gnu::always_inline]] inline auto operator*(const Several<A, n>& a, const Several<B, n>& b) {
  return each([](const A& x, const B& y) { return x * y; }, a, b);
}
template <class A, class B, int n>
[[gnu::always_inline]] inline auto operator/(const Several<A, n>& a, const Several<B, n>& b) {
  return each([](const A& x, const B& y) { return x / y; }, a, b);
}
template <class A, class B, int n>
[[gnu::always_inline]] inline auto operator|(const Several<A, n>& a, const Several<B, n>& b) {
  return each([](const A& x, const B& y) { return x | y; }, a, b);
}
template <class A, class B, int n>
[[gnu::always_inline]] inline auto operator&(const Several<A, n>& a, const Several<B, n>& b) {
  return each([](const A& x, const B& y) { return x & y; }, a, b);
}
template <class A, class B, int n>
[[gnu::always_inline]] inline auto operator<(const Several<A, n>& a, const Several<B, n>& b) {
  return each([](const A& x, const B& y) { return x < y; }, a, b);
}
template <class A, int n>
[[gnu::always_inline]] inline auto operator<<(const Several<A, n>& a, int bits) {
  return each([bits](const A& x) { return x << bits; }, a);
}
template <class A, int n>
[[gnu::always_inline]] inline auto operator>>(const Several<A, n>& a, int bits) {
  return each([bits](const A& x) { return x >> bits; }, a);
}
template <class A, int n>
[[gnu::always_inline]] inline auto operator-(const Several<A, n>& a) {
  return each([](const A& x) { return -x; }, a);
}
template <class A, int n>
[[gnu::always_inline]] inline auto abs(const Several<A, n>& a) {
  return each([](const A& x) { return xsimd::abs(x); }, a);
}
template <class A, int n>
[[gnu::always_inline]] inline auto min(const Several<A, n>& a, const Several<A, n>& b) {
  return each([](const A& x, const A& y) { return xsimd::min(x, y); }, a, b);
}
template <class A, int n>
[[gnu::always_inline]] inline auto max(const Several<A, n>& a, const Several<A, n>& b) {
  return each([](const A& x, const A& y) { return xsimd::max(x, y); }, a, b);
}
template <class M, class A, int n>
[[gnu::always_inline]] inline auto select(const Several<M, n>& mask, const Several<A, n>& yes,
                                          const Several<A, n>& no) {
  return each([](const M& m, const A& x, const A& y) { return xsimd::select(m, x, y); }, mask, yes, no);
}
template <int n>
[[gnu::always_inline]] inline auto multiply_add(const Several<Floats, n>& a, const Several<Floats, n>& b,
                                                const Several<Floats, n>& c) {
  return each([](const Floats& x, const Floats& y, const Floats& z) { return multiply_add(x, y, z); }, a, b, c);
}
template <int n>
[[gnu::always_inline]] inline auto negative_multiply_add(const Several<Floats, n>& a, const Several<Floats, n>& b,
                                                         const Several<Floats, n>& c) {
  return each([](const Floats& x, const Floats& y, const Floats& z) { return negative_multiply_add(x, y, z); }, a, b,
              c);
}
template <int n>
[[gnu::always_inline]] inline auto multiply_subtract(const Several<Floats, n>& a, const Several<Floats, n>& b,
                                                     const Several<Floats, n>& c) {
  return each([](const Floats& x, const Floats& y, const Floats& z) { return multiply_subtract(x, y, z); }, a, b, c);
}

/// @name The same bits as integers or as floats
/// @{
template <class F>
[[gnu::always_inline]] inline auto as_ints(const F& x) {
  return each([](const Floats& y) { return xsimd::bitwise_cast<Ints>(y); }, x);
}
template <class I>
[[gnu::always_inline]] inline auto as_floats(const I& x) {
  return each([](const Ints& y) { return xsimd::bitwise_cast<Floats>(y); }, x);
}
/// @}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
