#pragma once
#include <vector>

#include <mezzo/compiler/kernel.hpp>

namespace mezzo {

/// "reference": every op of docs/ops.md, plain, in float32 and float64 (and in the other dtypes where it only
/// moves or compares elements). What every other kernel is tested against.
std::vector<Implementation> reference_implementations();

}  // namespace mezzo
