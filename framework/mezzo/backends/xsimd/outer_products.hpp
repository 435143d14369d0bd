#pragma once
#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Gradients of the kernels of dense layers and of convolutions: products x^T g of matrices with a row for each sample
/// or pixel, sums of the outer products of their rows. A row of x is a sample, a pixel or a window.
Entries outer_product_entries();

}  // namespace mezzo::xsimd_kernels
