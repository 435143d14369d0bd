#pragma once
#include <cstddef>

namespace mezzo {

/// Hands out 64-byte aligned pieces of scratch, as offsets into it.
class ScratchLayout {
 public:
  std::size_t take(std::size_t bytes) {
    const std::size_t offset = size_;
    size_ += (bytes + 63) / 64 * 64;
    return offset;
  }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_ = 0;
};

}  // namespace mezzo
