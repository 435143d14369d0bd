#include <mezzo/backends/onednn/split_operand.hpp>

#include <algorithm>
#include <utility>

#include <mezzo/core/parallel.hpp>

namespace mezzo::onednn {

SplitOperand::SplitOperand(Spec& spec, Side side, bool transposed, std::int64_t parts, Splitter split,
                           ScratchLayout& layout)
    : split_(std::move(split)),
      parts_(parts),
      size_(static_cast<std::int64_t>(dtype_size(spec.dtype))),
      count_(element_count(spec.shape)),
      width_(spec.shape.back()) {
  const bool sums_columns = (side == Side::left) != transposed;
  std::int64_t& rows = spec.shape[spec.shape.size() - 2];
  if (!sums_columns) width_ *= rows;
  (sums_columns ? spec.shape.back() : rows) *= parts_;
  spec.dtype = DType::bfloat16;
  offset_ = layout.take(bytes_of(spec));
}

const void* SplitOperand::run(const void* from, void* scratch) const {
  const char* const x = static_cast<const char*>(from);
  auto* const y = reinterpret_cast<bfloat16*>(static_cast<char*>(scratch) + offset_);
  parallel_for(count_, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end;) {
      const std::int64_t at = i % width_, count = std::min(width_ - at, end - i);
      split_(x + i * size_, y + (i - at) * parts_ + at, width_, count);
      i += count;
    }
  });
  return y;
}

}  // namespace mezzo::onednn
