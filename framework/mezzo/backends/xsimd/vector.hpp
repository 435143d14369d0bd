#pragma once
// Registers of the instruction set that an .isa.cpp is compiled for. Everything in this file, and everything in an
// .isa.cpp except its table, must have internal linkage: the linker keeps only one copy of an inline function, which
// could contain instructions that the machine lacks. `Arch` is a type with internal linkage for this reason: it
// determines the linkage of instances of xsimd's templates.
#include <cstdint>
#include <type_traits>

#include <mezzo/core/bfloat16.hpp>
#include <mezzo/core/float16.hpp>
#include <xsimd/xsimd.hpp>

#if defined(__AVX512BW__)
#include <mezzo/backends/xsimd/vector_avx512.hpp>
#elif defined(__AVX2__)
#include <mezzo/backends/xsimd/vector_avx2.hpp>
#else
#include <mezzo/backends/xsimd/vector_sse2.hpp>
#endif

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

struct Arch : Base {};

#if !defined(__AVX512BW__)
// Parts of registers element by element, for types without masked loads and stores.

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
#endif

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA

namespace xsimd::types {
template <class T>
struct simd_register<T, mezzo::xsimd_kernels::MEZZO_ISA::Arch>
    : simd_register<T, mezzo::xsimd_kernels::MEZZO_ISA::Base> {
  using Parent = simd_register<T, mezzo::xsimd_kernels::MEZZO_ISA::Base>;
  using register_type = typename Parent::register_type;
  simd_register() = default;
  simd_register(register_type r) noexcept : Parent{r} {}
};
template <class T>
struct has_simd_register<T, mezzo::xsimd_kernels::MEZZO_ISA::Arch> : std::true_type {};
template <class T>
struct get_bool_simd_register<T, mezzo::xsimd_kernels::MEZZO_ISA::Arch>
    : get_bool_simd_register<T, mezzo::xsimd_kernels::MEZZO_ISA::Base> {};
}  // namespace xsimd::types

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {

using Floats = xsimd::batch<float, Arch>;
using Ints = xsimd::batch<std::int32_t, Arch>;
using Mask = xsimd::batch_bool<float, Arch>;
using IntMask = xsimd::batch_bool<std::int32_t, Arch>;

/// xsimd's select for floats, with a mask of integers.
[[gnu::always_inline]] inline Floats choose(const IntMask& mask, const Floats& yes, const Floats& no) {
  return xsimd::bitwise_cast<Floats>(
      xsimd::select(mask, xsimd::bitwise_cast<Ints>(yes), xsimd::bitwise_cast<Ints>(no)));
}

/// A register is read or written as a Whole or as a Part, its first lanes; the other lanes are read as 0.
struct Whole {};

[[gnu::always_inline]] inline Part first_lanes(std::int64_t count) { return Part(static_cast<int>(count)); }

[[gnu::always_inline]] inline int lanes_of(Whole) { return lanes; }
[[gnu::always_inline]] inline int lanes_of(Part part) { return part.count; }

template <class T>
[[gnu::always_inline]] inline auto load_register(const T* p, Whole) {
  return load_register(p);
}

template <class T, class AnyRegister>
[[gnu::always_inline]] inline void store_register(T* p, AnyRegister x, Whole) {
  store_register(p, x);
}

/// Loads float32, bfloat16 or float16.
template <class T, class Some>
[[gnu::always_inline]] inline Floats load(const T* p, Some part) {
  return load_register(p, part);
}

template <class T, class Some>
[[gnu::always_inline]] inline void store(T* p, const Floats& x, Some part) {
  store_register(p, x.data, part);
}

/// With `past_caches`, stores without reading the cache line if the instruction set supports it; a whole register is
/// aligned then, and the caller calls finish_stores() of past_caches.hpp.
template <class T, class Some>
[[gnu::always_inline]] inline void store(T* p, const Floats& x, Some part, [[maybe_unused]] bool past_caches) {
#if defined(__AVX2__)
  if constexpr (std::is_same_v<Some, Whole>) {
    if (past_caches) return store_past_caches(p, x.data);
  }
#endif
  store(p, x, part);
}

/// Loads int32 or uint8.
template <class T, class Some>
[[gnu::always_inline]] inline Ints load_ints(const T* p, Some part) {
  return load_register(p, part);
}

template <class Some>
[[gnu::always_inline]] inline void store_bytes(std::uint8_t* p, const Ints& x, Some part) {
  store_register(p, x.data, part);
}

/// @name Products and sums, rounded once if the instruction set has fused operations (xsimd 8 doesn't use AVX-512's)
/// @{
/// a * b + c
[[gnu::always_inline]] inline Floats multiply_add(const Floats& a, const Floats& b, const Floats& c) {
  return add_product(c.data, a.data, b.data);
}
/// c - a * b
[[gnu::always_inline]] inline Floats negative_multiply_add(const Floats& a, const Floats& b, const Floats& c) {
  return subtract_product(c.data, a.data, b.data);
}
/// a * b - c
[[gnu::always_inline]] inline Floats multiply_subtract(const Floats& a, const Floats& b, const Floats& c) {
  return product_minus(a.data, b.data, c.data);
}
/// @}

/// *p in each lane.
template <class T>
[[gnu::always_inline]] inline Floats load_one(const T* p) {
  if constexpr (std::is_same_v<T, float>) {
    return Floats(*p);
  } else {
    const T whole[lanes] = {*p};
    return Floats(first_lane(load_register(whole)));
  }
}

/// Transposes a square of as many registers as there are lanes.
[[gnu::always_inline]] inline void transpose(Floats (&rows)[lanes]) {
  decltype(Floats::data) registers[lanes];
  for (int i = 0; i < lanes; ++i) registers[i] = rows[i].data;
  transpose_registers(registers);
  for (int i = 0; i < lanes; ++i) rows[i] = registers[i];
}

/// 0, 1, 2, ...
[[gnu::always_inline]] inline Ints lane_numbers() {
  constexpr std::int32_t numbers[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return Ints::load_unaligned(numbers);
}

/// Calls body(i, part) for each register of [begin, end), with a Part at the end.
template <class Body>
[[gnu::always_inline]] inline void for_registers(std::int64_t begin, std::int64_t end, const Body& body) {
  for (; begin + lanes <= end; begin += lanes) body(begin, Whole{});
  if (begin < end) body(begin, first_lanes(end - begin));
}

/// x in the lanes of the part, `otherwise` in the others.
[[gnu::always_inline]] inline Floats only(const Floats& x, const Floats&, Whole) { return x; }
[[gnu::always_inline]] inline Floats only(const Floats& x, const Floats& otherwise, Part part) {
  return choose(lane_numbers() < Ints(part.count), x, otherwise);
}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
