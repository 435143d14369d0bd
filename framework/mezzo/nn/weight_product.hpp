#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/variable.hpp>

namespace mezzo::detail {

/// x (..., in) times a kernel as the matrix (in, out): (..., out). The first axes of the kernel have `in` elements, the
/// others `out`. Layers with dense kernels compute by it.
MEZZO_API Value weight_product(const Value& x, const Variable& kernel);

}  // namespace mezzo::detail
