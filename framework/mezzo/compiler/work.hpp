#pragma once
#include <mezzo/compiler/kernel.hpp>

namespace mezzo {

/// Multiplications and additions that a request asks for: of matmul, conv2d and its two gradients; 0 for other ops.
/// Counted as by the definition, whatever a kernel saves (Winograd) or adds (a bias).
double operations(const KernelRequest& request);

}  // namespace mezzo
