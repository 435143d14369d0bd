#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <mezzo/backends/xsimd/recurrence/packed_kernel.hpp>
#include <mezzo/backends/xsimd/recurrence/recurrence.hpp>
#include <mezzo/ops/recurrence_layout.hpp>

namespace mezzo::xsimd_kernels {

/// Sizes and operands of a recurrence or its gradient. A sample needs no other sample, so each thread runs all steps of
/// its samples, without waiting for other threads; results don't depend on the number of threads.
class RecurrentSteps {
 public:
  using Index = std::int64_t;
  using Layout = detail::RecurrenceLayout;

  RecurrentSteps(const KernelRequest& request, bool gradient, Isa isa);

 protected:
  /// Calls body(first, last) for ranges of samples, one per thread.
  template <class Body>
  void for_samples(const Body& body) const {
    parallel_for(batch_, grain_of(steps_ * units_ * width_), body);
  }

  bool skips(const KernelArguments& k, Index b, Index t) const {
    return at_.mask != Layout::none && !k.in<bool>(at_.mask)[b * steps_ + t];
  }

  /// Element i of an operand of the storage type; null if the operand is absent.
  const void* input(const KernelArguments& k, std::size_t place, Index i) const {
    return place == Layout::none ? nullptr : static_cast<const std::byte*>(k.inputs[place]) + i * bytes_;
  }
  void* output(const KernelArguments& k, std::size_t place, Index i) const {
    return static_cast<std::byte*>(k.outputs[place]) + i * bytes_;
  }

  /// True if each gate has a product of its own, since their factors are not the same.
  bool by_gates() const { return by_gates_; }
  bool resets_before() const { return at_.kind == Layout::Kind::gru_reset_before; }

  /// Factors by which dropout multiplies the state of sample b for a gate; null: none. `base`: scratch memory.
  const float* dropped(const std::byte* base, Index b, Index gate) const {
    if (at_.dropped == Layout::none) return nullptr;
    return reinterpret_cast<const float*>(base + dropped_) + b * width_ + gate * units_;
  }
  void load_dropped(const KernelArguments& k, std::byte* base) const;

  /// Copies samples [first, last) of an operand (batch, units), or zeros, to rows of float32.
  void load(const KernelArguments& k, std::size_t place, Index first, Index last, float* rows, Index row_width) const;

  /// Writes rows of float32 to an output (batch, units).
  void store(const KernelArguments& k, std::size_t place, Index first, Index last, const float* rows,
             Index row_width) const;

  Layout at_;
  DType dtype_;
  Index bytes_;  ///< of an element
  Index batch_ = 0, steps_ = 0, units_ = 0, width_ = 0;
  Index row_ = 0;  ///< distance of rows of `units` float32 numbers
  bool by_gates_;
  std::size_t dropped_ = 0;  ///< offset in scratch memory
  PackedKernel kernel_;
  const IsaKernels& functions_;
};

/// Requests memory for what each sample keeps between steps.
class RowLayout {
 public:
  explicit RowLayout(std::int64_t rows) : rows_(rows) {}
  std::size_t floats(std::int64_t width) {
    return layout.take(static_cast<std::size_t>(rows_ * width) * sizeof(float));
  }

  ScratchLayout layout;

 private:
  std::int64_t rows_;
};

std::unique_ptr<Kernel> make_recurrence_gradient(const KernelRequest& request, Isa isa, std::string& reason);

/// True if the kernels of this folder compute the request. Sets the reason otherwise.
bool takes_recurrence(const KernelRequest& request, bool gradient, std::string& reason);

}  // namespace mezzo::xsimd_kernels
