#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include <mezzo/backends/common/update_request.hpp>
#include <mezzo/core/dynamic_code.hpp>

namespace mezzo::reference {

/// Slots in 8 bits of the block of elements that an element is in, as float32.
class CodedBlock {
 public:
  CodedBlock(const UpdateRequest& request, const KernelArguments& arguments, std::int64_t element)
      : r_(request), a_(arguments), block_(element / Code::block), first_(block_ * Code::block) {
    for (std::size_t s = 0; s < r_.slots; ++s) {
      const float scale = a_.in<float>(r_.scales + s)[block_];
      code(s).decode(a_.in<std::uint8_t>(2 + s) + first_, scale, numbers_[s], size());
    }
  }

  template <class T>
  std::array<T, 3> slots(std::int64_t i) const {
    std::array<T, 3> out{};
    for (std::size_t s = 0; s < r_.slots; ++s) out[s] = static_cast<T>(numbers_[s][i - first_]);
    return out;
  }

  template <class T>
  void set(std::int64_t i, const std::array<T, 3>& slots) {
    for (std::size_t s = 0; s < r_.slots; ++s) numbers_[s][i - first_] = static_cast<float>(slots[s]);
  }

  void store() const {
    for (std::size_t s = 0; s < r_.slots; ++s) {
      a_.out<float>(r_.scales + s - 1)[block_] =
          code(s).encode(numbers_[s], size(), a_.out<std::uint8_t>(1 + s) + first_);
    }
  }

 private:
  using Code = detail::DynamicCode;

  const Code& code(std::size_t s) const { return Code::of(r_.slot_codes[s]); }
  std::int64_t size() const { return std::min(Code::block, r_.count - first_); }

  const UpdateRequest& r_;
  const KernelArguments& a_;
  std::int64_t block_, first_;
  float numbers_[3][Code::block];
};

}  // namespace mezzo::reference
