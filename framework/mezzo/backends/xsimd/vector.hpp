#pragma once
// Registers of the instruction set that the including .isa.cpp is compiled for. Everything here, and what an
// .isa.cpp defines beside its table, must have internal linkage: the linker keeps one copy of an inline function, and
// it could be the one with instructions that the machine lacks. Hence the own `Arch`: xsimd's templates take their
// linkage from it.
#include <cstdint>
#include <type_traits>

#include <mezzo/core/bfloat16.hpp>
#include <mezzo/core/float16.hpp>
#include <xsimd/xsimd.hpp>

#if defined(__AVX512BW__)
#include <mezzo/backends/xsimd/vector_avx512.hpp>
#elif defined(__AVX2__)
#include <mezzo/backends/xsimd/vector_avx2.hpp>
#include <mezzo/backends/xsimd/vector_tails.hpp>
#else
#include <mezzo/backends/xsimd/vector_sse2.hpp>
#include <mezzo/backends/xsimd/vector_tails.hpp>
#endif

namespace mezzo::xsimd_kernels::MEZZO_ISA {
namespace {
struct Arch : Base {};
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

/// xsimd's select, for floats by what a comparison of integers found.
[[gnu::always_inline]] inline Floats choose(const IntMask& mask, const Floats& yes, const Floats& no) {
  return xsimd::bitwise_cast<Floats>(
      xsimd::select(mask, xsimd::bitwise_cast<Ints>(yes), xsimd::bitwise_cast<Ints>(no)));
}

/// What part of a register is read or written: Whole, or the first lanes of a Part; the others are read as 0.
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

/// From float32, bfloat16 and float16.
template <class T, class Some>
[[gnu::always_inline]] inline Floats load(const T* p, Some part) {
  return load_register(p, part);
}

template <class T, class Some>
[[gnu::always_inline]] inline void store(T* p, const Floats& x, Some part) {
  store_register(p, x.data, part);
}

/// From int32 and uint8.
template <class T, class Some>
[[gnu::always_inline]] inline Ints load_ints(const T* p, Some part) {
  return load_register(p, part);
}

template <class Some>
[[gnu::always_inline]] inline void store_bytes(std::uint8_t* p, const Ints& x, Some part) {
  store_register(p, x.data, part);
}

/// @name Products and sums, rounded once where the instruction set can (xsimd 8 can't with AVX-512)
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

/// The same number in each lane.
template <class T>
[[gnu::always_inline]] inline Floats load_one(const T* p) {
  if constexpr (std::is_same_v<T, float>) {
    return Floats(*p);
  } else {
    const T whole[lanes] = {*p};
    return Floats(first_lane(load_register(whole)));
  }
}

/// The transpose of a square of as many registers as there are lanes.
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

/// Calls body(i, part) for each register's worth of [begin, end).
template <class Body>
[[gnu::always_inline]] inline void for_registers(std::int64_t begin, std::int64_t end, const Body& body) {
  for (; begin + lanes <= end; begin += lanes) body(begin, Whole{});
  if (begin < end) body(begin, first_lanes(end - begin));
}

/// x, but `otherwise` in the lanes that are not part.
[[gnu::always_inline]] inline Floats only(const Floats& x, const Floats&, Whole) { return x; }
[[gnu::always_inline]] inline Floats only(const Floats& x, const Floats& otherwise, Part part) {
  return choose(lane_numbers() < Ints(part.count), x, otherwise);
}

}  // namespace
}  // namespace mezzo::xsimd_kernels::MEZZO_ISA
