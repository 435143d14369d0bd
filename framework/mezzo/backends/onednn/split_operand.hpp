#pragma once
#include <cstdint>
#include <functional>

#include <mezzo/backends/common/kernel.hpp>

namespace mezzo::onednn {

/// Splits `count` numbers into bfloat16 parts. Part p of number i goes to first[p * next + i].
using Splitter = std::function<void(const void* x, bfloat16* first, std::int64_t next, std::int64_t count)>;

/// An operand of a product that becomes bfloat16 numbers in scratch memory: each run of `width` elements, the ones
/// along the summed axis, becomes `parts` consecutive parts.
class SplitOperand {
 public:
  enum class Side { left, right };

  /// Changes `spec` to that of the bfloat16 operand.
  SplitOperand(Spec& spec, Side side, bool transposed, std::int64_t parts, Splitter split, ScratchLayout& layout);

  /// Splits the operand into scratch memory and returns its address there.
  const void* run(const void* from, void* scratch) const;

 private:
  Splitter split_;
  std::int64_t parts_, size_, count_, width_;
  std::size_t offset_ = 0;
};

}  // namespace mezzo::onednn
