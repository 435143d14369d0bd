#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/entries.hpp>
#include <mezzo/backends/xsimd/products.hpp>

namespace mezzo::xsimd_kernels {

/// A recurrent kernel (units, width) or its transpose as a factor of products with the rows of a few samples. It is
/// packed in panels of columns, once for all steps. Products are of bfloat16 factors if the storage type is bfloat16
/// and the instruction set multiplies it, else of float32.
class PackedKernel {
 public:
  using Index = std::int64_t;

  PackedKernel() = default;

  /// `groups`: number of matrices that lie side by side in the kernel and are multiplied one by one; 1: as a whole.
  PackedKernel(Index units, Index width, Index groups, bool transposed, DType dtype, Isa isa);

  /// True if factors are bfloat16.
  bool narrow() const { return narrow_; }
  /// Distance of the rows of factors, in numbers, and of the rows of products.
  Index factor_width() const { return factor_width_; }
  Index product_width() const { return product_width_; }
  /// Distance of the products of two groups in a row.
  Index group_step() const { return panels_ * products_->panel; }

  /// Size of the factors of one group. A bfloat16 factor has a 0 after its last number if its depth is odd.
  std::size_t factor_bytes(Index rows) const;
  std::size_t packed_bytes() const;

  /// Writes the packed form of a kernel of the storage type to `packed`.
  void pack(const void* kernel, void* packed) const;

  /// out = factors times the packed kernel, or one group of it; `rows` rows from `first` on.
  void multiply(const void* factors, const void* packed, float* out, Index first, Index rows, Index group = 0) const;

 private:
  const ProductFunctions* products_ = nullptr;
  Index width_ = 0, groups_ = 1, depth_ = 0, columns_ = 0, panels_ = 0;  // depth, columns and panels of one group
  bool transposed_ = false, narrow_ = false;
  DType dtype_ = DType::float32;
  Index factor_width_ = 0, product_width_ = 0;
};

}  // namespace mezzo::xsimd_kernels
