#pragma once
#include <cstddef>
#include <cstdint>

#include <mezzo/backends/xsimd/batch_norm.hpp>
#include <mezzo/backends/xsimd/channels.hpp>
#include <mezzo/backends/xsimd/normalized_input.hpp>

namespace mezzo::xsimd_kernels {

/// The gradient of a batch norm, whose operands are inputs 0 to 5 of a kernel: first its sums, then rows of dx.
class NormGradient {
 public:
  NormGradient(const KernelRequest& request, Isa isa, ScratchLayout& layout);

  /// Operands of rows(). The pointers are into operands and scratch memory of a run.
  struct Prepared {
    NormCotangent of;
    const float *from_g, *from_x, *add;
  };

  /// Computes the sums over all rows, and dgamma and dbeta of them. If `masked` isn't null, writes the masked g to it.
  Prepared prepare(const KernelArguments& arguments, float* dgamma, float* dbeta, char* masked = nullptr) const;

  /// Writes dx of `rows` rows, from the byte `offset` of the arrays on, to `to`.
  void rows(const Prepared& prepared, std::int64_t offset, std::int64_t rows, void* to) const;

  const Channels& channels() const { return channels_; }

 private:
  const DType dtype_;
  const bool training_, masks_, again_;  ///< `again`: computes the norm's output again
  const NormLimits limits_;
  const BatchNormFunctions& functions_;
  const Channels channels_;
  std::size_t sums_, products_, factors_;  ///< offsets in scratch memory
};

}  // namespace mezzo::xsimd_kernels
