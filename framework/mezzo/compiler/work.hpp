#pragma once
#include <mezzo/compiler/kernel.hpp>

namespace mezzo {

/// Number of multiplications and additions of matmul, conv2d and the two gradients of conv2d; 0 for other ops. Counted
/// by the definition of the op, without the savings (Winograd) and additions (a bias) of a kernel.
double operations(const KernelRequest& request);

}  // namespace mezzo
