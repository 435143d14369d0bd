#pragma once
// Loops over long arrays, for .isa.cpp files.
#include <mezzo/backends/xsimd/vector.hpp>

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

/// Elements between two rounds of prefetches; whole registers on every ISA and whole cache lines for every dtype.
constexpr std::int64_t stride = 64;

/// Asks for the `stride` elements that lie `distance` bytes ahead. Past the end of an array this does nothing.
template <class T>
[[gnu::always_inline]] inline void prefetch_ahead(const T* p) {
  constexpr std::int64_t distance = 2048;
  constexpr std::int64_t line = 64;
  const char* ahead = reinterpret_cast<const char*>(p) + distance;
  for (std::int64_t i = 0; i < stride * static_cast<std::int64_t>(sizeof(T)); i += line) {
    __builtin_prefetch(ahead + i);
  }
}

/// Calls body(i, part) for each register's worth of [0, n), and prefetches the arrays named.
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
