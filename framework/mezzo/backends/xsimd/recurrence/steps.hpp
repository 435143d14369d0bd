#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <mezzo/backends/xsimd/conversions.hpp>
#include <mezzo/backends/xsimd/recurrence/packed_kernel.hpp>
#include <mezzo/backends/xsimd/recurrence/recurrence.hpp>
#include <mezzo/ops/recurrence_layout.hpp>

namespace mezzo::xsimd_kernels {

/// Part of the kernels of a recurrence and of its gradient: sizes, operands and products. Samples are independent, so
/// each thread runs all steps of its samples without waiting for other threads. Results don't depend on the number of
/// threads.
class RecurrentSteps : public Kernel {
 public:
  using Index = std::int64_t;
  using Layout = detail::RecurrenceLayout;

  RecurrentSteps(const KernelRequest& request, bool gradient, Isa isa);

  std::size_t scratch_bytes() const final { return scratch_; }
  std::string detail() const final { return kernel_.narrow() ? "bfloat16 products" : ""; }

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

  /// True if each gate has a separate product, because the gates have different factors.
  bool by_gates() const { return by_gates_; }
  bool resets_before() const { return at_.kind == Layout::Kind::gru_reset_before; }

  /// Factors by which dropout multiplies the state of sample b for a gate; null: none. `base`: scratch memory.
  const float* dropped(const std::byte* base, Index b, Index gate) const {
    if (at_.dropped == Layout::none) return nullptr;
    return reinterpret_cast<const float*>(base + dropped_) + b * width_ + gate * units_;
  }
  void load_dropped(const KernelArguments& k, std::byte* base) const;

  /// Sets the bfloat16 factors of samples [first, last) to 0.
  void clear_factors(std::byte* base, Index first, Index last) const;

  /// Multiplies the factors of a gate with the packed kernel, for samples [first, last).
  void multiply(std::byte* base, Index first, Index last, Index gate) const;

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
  std::size_t dropped_ = 0, product_ = 0, factor_ = 0, packed_ = 0;  ///< offsets in scratch memory
  std::size_t scratch_ = 0;                                          ///< its size
  PackedKernel kernel_;
  const IsaKernels& functions_;
};

/// The entry of a cell's kind.
template <class Table>
const Table& of_kind(detail::RecurrenceLayout::Kind kind, const Table& simple_rnn, const Table& lstm, const Table& gru,
                     const Table& gru_reset_before) {
  using Kind = detail::RecurrenceLayout::Kind;
  switch (kind) {
    case Kind::simple_rnn:
      return simple_rnn;
    case Kind::lstm:
      return lstm;
    case Kind::gru:
      return gru;
    case Kind::gru_reset_before:
      break;
  }
  return gru_reset_before;
}

/// Requests memory for the values that each sample keeps between steps.
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
