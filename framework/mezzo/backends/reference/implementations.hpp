#pragma once
#include <vector>

#include <mezzo/compiler/kernel.hpp>

namespace mezzo {

/// "reference": a plain kernel for every op of docs/ops.md, in float32 and float64; ops that only move or compare
/// elements take every dtype. All other kernels are tested against these.
std::vector<Implementation> reference_implementations();

}  // namespace mezzo
