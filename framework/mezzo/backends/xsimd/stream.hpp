#pragma once
// Loops over long arrays, for .isa.cpp files.
#include <mezzo/backends/xsimd/vector.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// Elements between two rounds of prefetches: whole registers of every ISA and whole cache lines of every dtype.
constexpr std::int64_t stride = 64;

/// Prefetches `stride` elements at a distance of 2048 bytes. A prefetch past the end of an array has no effect.
template <class T>
[[gnu::always_inline]] inline void prefetch_ahead(const T* p) {
  constexpr std::int64_t distance = 2048;
  constexpr std::int64_t line = 64;
  const char* ahead = reinterpret_cast<const char*>(p) + distance;
  for (std::int64_t i = 0; i < stride * static_cast<std::int64_t>(sizeof(T)); i += line) {
    __builtin_prefetch(ahead + i);
  }
}

/// Calls body(i, part) for each register of [0, n), and prefetches `arrays`.
template <class Body, class... Arrays>
[[gnu::always_inline]] inline void stream(std::int64_t n, const Body& body, const Arrays*... arrays) {
  std::int64_t i = 0;
  for (; i + stride <= n; i += stride) {
    (prefetch_ahead(arrays + i), ...);
    for (std::int64_t j = 0; j < stride; j += lanes) body(i + j, Whole{});
  }
  for_registers(i, n, body);
}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
