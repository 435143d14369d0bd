#pragma once

/// Words of the second argument of rows in ops.def, joined by |. PLAIN is none of them.
namespace mezzo::ops::row_flags {

// NOLINTBEGIN(readability-identifier-naming): words of ops.def
constexpr unsigned PLAIN = 0;
constexpr unsigned WIDEN = 1;  ///< computed as float32 for bfloat16 and float16
constexpr unsigned CHAIN = 2;  ///< can be a step of elementwise_chain
// NOLINTEND(readability-identifier-naming)

}  // namespace mezzo::ops::row_flags
