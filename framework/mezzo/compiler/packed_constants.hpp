#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include <mezzo/core/tensor.hpp>

namespace mezzo::detail {

/// A constant operand in the layout of a kernel.
struct PackedConstant {
  Tensor numbers;  ///< as the kernel's operand; kept, since its address identifies the entry
  Tensor packed;   ///< bytes, 64-byte aligned

  const void* data() const { return packed.raw(); }
};

/// The constant in a layout, which `layout` names exactly: `pack` writes it to `bytes` bytes. Kernels of all plans with
/// the same constant and layout share the result as long as one of them exists. Thread-safe.
std::shared_ptr<const PackedConstant> packed_constant(const Tensor& numbers, const std::string& layout,
                                                      std::size_t bytes, const std::function<void(void* to)>& pack);

/// Number of packed constants that kernels use.
std::size_t packed_constant_count();

}  // namespace mezzo::detail
