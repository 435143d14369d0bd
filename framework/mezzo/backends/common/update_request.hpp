#pragma once
#include <cstdint>
#include <cstring>

#include <mezzo/compiler/kernel.hpp>
#include <mezzo/core/bfloat16.hpp>

namespace mezzo {

/// x rounded up or down to bfloat16, to x on average if `word`'s lower 16 bits are random: the bits are
/// (x + word) & 0xFFFF0000 (Zamirai et al., "Revisiting BFloat16 Training", 2020). NaN stays a (quiet) NaN.
inline bfloat16 round_stochastically(float x, std::uint32_t word) {
  if (x != x) return bfloat16(x);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  bfloat16 out;
  out.bits = static_cast<std::uint16_t>((bits + (word & 0xffffU)) >> 16);
  return out;
}

/// The request of an optimizer's update, read: what it is made of and where among inputs and outputs it is.
struct UpdateRequest {
  using Kept = mezzo::Kept;

  UpdateRequest(const KernelRequest& request, std::size_t slots);

  /// The key of the random words of a run: of element i, word i % 4 of philox(key, i / 4). Its lower and upper 16 bits
  /// round the first and the second slot.
  std::uint64_t slot_stream(const KernelArguments& arguments) const;

  /// The same, of words whose lower 16 bits round the variable.
  std::uint64_t variable_stream(const KernelArguments& arguments) const;

  /// Number i of those that follow the variable and what goes with it.
  double number(const KernelArguments& arguments, std::size_t i) const { return *arguments.in<double>(numbers + i); }

  Kept kept = Kept::plain;
  std::int64_t count = 0;  ///< of elements
  std::size_t slots = 0;   ///< inputs from 2 on, outputs from 1 on
  DType variable = DType::float32, gradient = DType::float32, slot = DType::float32;
  bool has_copy = false;
  DType copy = DType::float32;  ///< the last output's
  bool random = false;
  std::int64_t key = 0;
  double weight_decay = 0, clipvalue = 0;
  std::int64_t rows = 0, columns = 0;  ///< of a variable whose gradient is compact, else 0
  std::size_t beside = 0;              ///< remainder or compensation: an input; as an output it is one earlier
  std::size_t numbers = 0, seed = 0, places = 0;
};

}  // namespace mezzo
