#pragma once
// Included by vector.hpp alone: parts of registers, element by element, where the instruction set has no masks for
// them.

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

template <class T>
[[gnu::always_inline]] inline auto load_register(const T* p, Part part) {
  T whole[lanes] = {};
  for (int i = 0; i < part.count; ++i) whole[i] = p[i];
  return load_register(whole);
}

template <class T, class AnyRegister>
[[gnu::always_inline]] inline void store_register(T* p, AnyRegister x, Part part) {
  T whole[lanes];
  store_register(whole, x);
  for (int i = 0; i < part.count; ++i) p[i] = whole[i];
}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
