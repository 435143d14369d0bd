#pragma once
#include <optional>

#include <mezzo/precision/float32_matmul.hpp>

namespace mezzo {

/// Options of the choice of kernels.
struct KernelOptions {
  /// True if 3 x 3 convolutions of float32 operands may run by Winograd's algorithm. Not given: set by
  /// MEZZO_FLOAT32_WINOGRAD.
  std::optional<bool> float32_winograd{};

  /// Precision of float32 matrix products. Not given: float32_matmul_precision().
  std::optional<detail::Float32Matmul> float32_matmul{};
};

/// Options of the calling thread.
KernelOptions& kernel_options();

namespace detail {
/// The precision of float32 matrix products on this thread: that of the running Trainer, else that of the process.
Float32Matmul current_float32_matmul();
}  // namespace detail

}  // namespace mezzo
