#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/xsimd/isa_kernels.hpp>
#include <mezzo/backends/xsimd/products.hpp>
#include <mezzo/backends/xsimd/wide_operand.hpp>
#include <mezzo/graph/op_registry.hpp>

namespace mezzo::xsimd_kernels {

/// Bytes of that many float32 numbers.
inline std::size_t float_bytes(std::int64_t floats) { return static_cast<std::size_t>(floats) * sizeof(float); }

/// The numbers at an offset in scratch memory.
inline float* floats_at(const KernelArguments& arguments, std::size_t offset) {
  return reinterpret_cast<float*>(static_cast<char*>(arguments.scratch) + offset);
}

/// A matrix (depth, columns), or transposed in memory, packed in float32 in panels of columns for products.
class KernelPanels {
 public:
  /// `input`: number of the kernel's operand that holds the matrix.
  KernelPanels(const KernelRequest& request, std::size_t input, std::int64_t depth, std::int64_t columns,
               bool transposed, const ProductFunctions& products, ScratchLayout& layout)
      : products_(products), matrix_(request, input, layout), depth_(depth), columns_(columns) {
    packed_ = layout.take(float_bytes(count() * pitch()));
    if (!transposed) return;
    turned_ = layout.take(float_bytes(depth * columns));
    turn_ = choose_kernel({.op = &find_op("transpose"),
                           .attributes = {{"permutation", Shape{1, 0}}},
                           .inputs = {{{columns, depth}, DType::float32}},
                           .outputs = {{{depth, columns}, DType::float32}},
                           .where = request.where})
                .kernel;
    turn_scratch_ = layout.take(turn_->scratch_bytes());
  }

  /// Number of panels.
  std::int64_t count() const { return (columns_ + products_.panel - 1) / products_.panel; }

  void pack(const KernelArguments& arguments) const {
    const float* matrix = matrix_.read(arguments);
    if (turn_) {
      const void* const from = matrix;
      void* const turned = floats_at(arguments, turned_);
      turn_->run({&from, &turned, floats_at(arguments, turn_scratch_)});
      matrix = floats_at(arguments, turned_);
    }
    float* const to = floats_at(arguments, packed_);
    // A panel has whole registers, so packing a row overwrites no other row.
    parallel_for(depth_, grain_of(columns_), [&](std::int64_t begin, std::int64_t end) {
      products_.pack.panels({.from = matrix + begin * columns_,
                             .width = columns_,
                             .rows = end - begin,
                             .columns = columns_,
                             .to = to + begin * products_.panel,
                             .pitch = pitch()});
    });
  }

  /// Row `row` of a panel.
  const float* panel(const KernelArguments& arguments, std::int64_t number, std::int64_t row = 0) const {
    return floats_at(arguments, packed_) + number * pitch() + row * products_.panel;
  }

 private:
  std::int64_t pitch() const { return depth_ * products_.panel; }

  const ProductFunctions& products_;
  const WideOperand matrix_;
  const std::int64_t depth_, columns_;
  std::unique_ptr<Kernel> turn_;
  std::size_t packed_ = 0, turned_ = 0, turn_scratch_ = 0;  ///< offsets in scratch memory
};

}  // namespace mezzo::xsimd_kernels
