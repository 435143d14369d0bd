#pragma once
#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// Gradients of the kernels of dense layers and of 1 x 1 convolutions: products x^T g of matrices with a row for each
/// sample or pixel, sums of the outer products of their rows.
Entries outer_product_entries();

}  // namespace mezzo::xsimd_kernels
