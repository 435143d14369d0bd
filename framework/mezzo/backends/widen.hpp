#pragma once
#include <vector>

#include <mezzo/compiler/kernel.hpp>

namespace mezzo {

/// "widen": converts operands in bfloat16 or float16 to float32, runs the best float32 kernel and rounds its results
/// once. For every op except those that the reference computes in any dtype.
std::vector<Implementation> widen_implementations();

}  // namespace mezzo
