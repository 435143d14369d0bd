#pragma once
#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// The gradient of a 1 x 1 kernel, as a product of matrices.
Entries pointwise_entries();

}  // namespace mezzo::xsimd_kernels
