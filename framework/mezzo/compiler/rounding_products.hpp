#pragma once
#include <mezzo/compiler/kernel.hpp>

namespace mezzo::detail {

/// Attribute of a matmul in bfloat16 whose right operand is float32. Its kernel rounds this operand to bfloat16 while
/// it packs it.
constexpr const char* rounds_right = "rounds_right";

/// The implementation, which declines products with that attribute.
Implementation without_rounding(Implementation implementation);

}  // namespace mezzo::detail
