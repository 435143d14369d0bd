#pragma once
#include <optional>

namespace mezzo {

/// Options of the choice of kernels.
struct KernelOptions {
  /// True if 3 x 3 convolutions of float32 operands may run by Winograd's algorithm. Not given: set by
  /// MEZZO_FLOAT32_WINOGRAD.
  std::optional<bool> float32_winograd{};
};

/// Options of the calling thread.
KernelOptions& kernel_options();

}  // namespace mezzo
