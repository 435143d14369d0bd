#pragma once
#include <vector>

#include <mezzo/compiler/kernel.hpp>

namespace mezzo {

/// "widen": operands in bfloat16 or float16 are converted to float32, the best float32 kernel runs, and its
/// results are rounded once. For every op but those that the reference computes in any dtype.
std::vector<Implementation> widen_implementations();

}  // namespace mezzo
