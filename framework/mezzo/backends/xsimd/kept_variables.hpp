#pragma once
// Rules by which an optimizer's pass reads, changes and writes a variable, one register at a time, for .isa.cpp files:
//
//   template <class Some>
//   static void change(const UpdateArrays&, std::int64_t i, Some part, decay, addend, word)
//
// w becomes w - decay * w + addend, rounded with `word` if that is stochastic. Products and sums are rounded
// separately: SSE2 has no fused multiply-add, and the numbers must be the same for all instruction sets.
#include <mezzo/backends/xsimd/rounding.hpp>
#include <mezzo/backends/xsimd/split_floats.hpp>
#include <mezzo/backends/xsimd/update.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

template <class T>
[[gnu::always_inline]] inline const T* in(const void* p) {
  return static_cast<const T*>(p);
}
template <class T>
[[gnu::always_inline]] inline T* out(void* p) {
  return static_cast<T*>(p);
}

/// round_stochastically() of backends/common/random.hpp. The result is a Floats that bfloat16 holds exactly.
[[gnu::always_inline]] inline Floats rounded_stochastically(const Floats& x, const Ints& word) {
  const Ints bits = (xsimd::bitwise_cast<Ints>(x) + (word & Ints(0xffff))) & ~Ints(0xffff);
  return xsimd::select(x == x, xsimd::bitwise_cast<Floats>(bits), x);
}

/// A variable stored in its dtype V. Also writes a copy in dtype Copy, unless that is float32.
template <class V, class Copy = float>
struct Plain {
  using Stored = V;
  using Gradient = V;
  static constexpr bool any_gradient = true, random = false, beside = false, copies = !std::is_same_v<Copy, float>;

  template <class Some>
  [[gnu::always_inline]] static void change(const UpdateArrays& a, std::int64_t i, Some part, const Floats& decay,
                                            const Floats& addend, const Ints&) {
    const Floats changed = changed_variable(a, i, part, decay, addend);
    if constexpr (copies) store(out<Copy>(a.copy) + i, changed, part);
  }

  /// change() of two whole registers.
  [[gnu::always_inline]] static void change_two(const UpdateArrays& a, std::int64_t i, const Floats& decay,
                                                const Floats (&addends)[2]) {
    Floats changed[2];
    for (int j = 0; j < 2; ++j) changed[j] = changed_variable(a, i + j * lanes, Whole{}, decay, addends[j]);
    if constexpr (copies) store_two(out<Copy>(a.copy) + i, changed[0], changed[1]);
  }

 private:
  template <class Some>
  [[gnu::always_inline]] static Floats changed_variable(const UpdateArrays& a, std::int64_t i, Some part,
                                                        const Floats& decay, const Floats& addend) {
    const Floats w = load(in<V>(a.variable) + i, part);
    const Floats changed = w - decay * w + addend;
    store(out<V>(a.new_variable) + i, changed, part);
    return changed;
  }
};

/// A float32 variable stored as SplitFloat.
struct Split {
  using Stored = bfloat16;
  using Gradient = float;
  static constexpr bool any_gradient = false, random = false, beside = true, copies = false;

  template <class Some>
  [[gnu::always_inline]] static void change(const UpdateArrays& a, std::int64_t i, Some part, const Floats& decay,
                                            const Floats& addend, const Ints&) {
    const Floats w = load_split(in<bfloat16>(a.variable) + i, in<bfloat16>(a.beside) + i, part);
    store_split(out<bfloat16>(a.new_variable) + i, out<bfloat16>(a.new_beside) + i, w - decay * w + addend, part);
  }
};

/// A variable in V with its compensation: the rounding error of the last sum is added to the next one.
template <class V>
struct Kahan {
  using Stored = V;
  using Gradient = V;
  static constexpr bool any_gradient = false, random = false, beside = true, copies = false;

  template <class Some>
  [[gnu::always_inline]] static void change(const UpdateArrays& a, std::int64_t i, Some part, const Floats& decay,
                                            const Floats& addend, const Ints&) {
    const Floats w = load(in<V>(a.variable) + i, part);
    const Floats whole = load(in<V>(a.beside) + i, part) - decay * w + addend;
    store(out<V>(a.new_variable) + i, w + whole, part);
    const Floats rounded = load(in<V>(a.new_variable) + i, part);
    store(out<V>(a.new_beside) + i, whole + (w - rounded), part);
  }
};

/// A bfloat16 variable, rounded stochastically.
struct Stochastic {
  using Stored = bfloat16;
  using Gradient = bfloat16;
  static constexpr bool any_gradient = false, random = true, beside = false, copies = false;

  template <class Some>
  [[gnu::always_inline]] static void change(const UpdateArrays& a, std::int64_t i, Some part, const Floats& decay,
                                            const Floats& addend, const Ints& word) {
    const Floats w = load(in<bfloat16>(a.variable) + i, part);
    store(out<bfloat16>(a.new_variable) + i, rounded_stochastically(w - decay * w + addend, word), part);
  }
};

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
