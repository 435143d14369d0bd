#pragma once
#include <algorithm>
#include <cstdint>

#include <mezzo/backends/common/update_request.hpp>
#include <mezzo/core/dynamic_code.hpp>

namespace mezzo::xsimd_kernels {

/// DynamicCode's functions of a block.
struct SlotCodes {
  void (*decode)(const detail::DynamicCode& code, const std::uint8_t* codes, float scale, float* to,
                 std::int64_t count);
  float (*encode)(const detail::DynamicCode& code, const float* from, std::int64_t count, std::uint8_t* codes);
};

/// float32 copies of the slots of a block of elements whose slots are in 8 bits.
class CodedSlots {
 public:
  CodedSlots(const UpdateRequest& request, const SlotCodes& functions, const KernelArguments& arguments)
      : r_(request), functions_(functions), a_(arguments) {}

  /// Reads the slots of a block.
  void load(std::int64_t block) {
    for (std::size_t s = 0; s < r_.slots; ++s) {
      const float scale = a_.in<float>(r_.scales + s)[block];
      functions_.decode(code(s), a_.in<std::uint8_t>(2 + s) + block * Code::block, scale, slots_[s], size(block));
    }
  }

  /// Numbers of a slot, which an update replaces.
  float* slot(std::size_t s) { return slots_[s]; }

  /// Writes the slots of the block.
  void store(std::int64_t block) const {
    for (std::size_t s = 0; s < r_.slots; ++s) {
      auto* const codes = a_.out<std::uint8_t>(1 + s) + block * Code::block;
      a_.out<float>(r_.scales + s - 1)[block] = functions_.encode(code(s), slots_[s], size(block), codes);
    }
  }

  /// Number of elements of a block.
  std::int64_t size(std::int64_t block) const { return std::min(Code::block, r_.count - block * Code::block); }

 private:
  using Code = detail::DynamicCode;

  const Code& code(std::size_t s) const { return Code::of(r_.slot_codes[s]); }

  const UpdateRequest& r_;
  const SlotCodes& functions_;
  const KernelArguments& a_;
  alignas(64) float slots_[3][Code::block];
};

}  // namespace mezzo::xsimd_kernels
