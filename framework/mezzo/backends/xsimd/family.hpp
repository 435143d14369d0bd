#pragma once
#include <array>

#include <mezzo/core/bfloat16.hpp>
#include <mezzo/core/float16.hpp>
#include <mezzo/core/isa.hpp>

namespace mezzo::xsimd_kernels {

/// Of something there is one for each of float32, bfloat16 and float16, in this order.
template <class Entry>
using PerStorage = std::array<Entry, 3>;

/// What `make` gives for a zero of each storage type.
template <class Make>
constexpr auto per_storage(Make make) {
  return PerStorage<decltype(make(float{}))>{make(float{}), make(bfloat16{}), make(float16{})};
}

/// The table of an ISA, out of one table for each.
template <class Table>
const Table& pick(Isa isa, const Table& sse2, const Table& avx2, const Table& avx512, const Table& avx512_bf16) {
  switch (isa) {
    case Isa::sse2:
      return sse2;
    case Isa::avx2:
      return avx2;
    case Isa::avx512:
      return avx512;
    case Isa::avx512_bf16:
      break;
  }
  return avx512_bf16;
}

}  // namespace mezzo::xsimd_kernels
