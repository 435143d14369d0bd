#pragma once
#include <mezzo/compiler/kernel.hpp>

namespace mezzo::detail {

/// Attribute of a matmul in bfloat16 whose right operand is float32. Its kernel rounds this operand to bfloat16 while
/// it packs it.
constexpr const char* rounds_right = "rounds_right";

/// Attribute of a batch_norm that computes y of another one again. Its input 4 is an inverse deviation.
constexpr const char* again = "again";

/// The implementation, which declines requests of that op with that attribute, since it doesn't know it.
Implementation without_attribute(Implementation implementation, const Op& op, const char* attribute);

/// The implementation, which declines requests with the attributes above, since it knows none of them.
Implementation without_pass_attributes(Implementation implementation);

}  // namespace mezzo::detail
