#pragma once
#include <cstdint>
#include <memory>

#include <mezzo/backends/xsimd/products.hpp>
#include <mezzo/compiler/packed_constants.hpp>
#include <mezzo/core/isa.hpp>

namespace mezzo::xsimd_kernels {

/// A constant matrix (depth, columns) of float32 or bfloat16, packed in panels of columns for products. Kernels of the
/// same matrix share the memory.
class PackedMatrix {
 public:
  /// `transposed`: the numbers are (columns, depth).
  PackedMatrix(const Tensor& numbers, std::int64_t depth, std::int64_t columns, bool transposed, Isa isa);

  const void* panel(std::int64_t number) const { return static_cast<const char*>(packed_->data()) + number * bytes_; }
  /// Bytes of all panels.
  std::int64_t bytes() const { return count_ * bytes_; }

 private:
  std::int64_t count_, bytes_;  ///< of a panel
  std::shared_ptr<const detail::PackedConstant> packed_;
};

/// The constant bias as float32, with zeros up to whole panels; zeros without `bias`.
std::shared_ptr<const detail::PackedConstant> packed_bias(const Tensor* bias, std::int64_t columns, std::int64_t panel);

}  // namespace mezzo::xsimd_kernels
