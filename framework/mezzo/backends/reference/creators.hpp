#pragma once
#include <memory>
#include <string>
#include <vector>

#include <mezzo/compiler/kernel.hpp>

namespace mezzo {

/// "reference": a plain kernel for every op of docs/ops.md, in float32 and float64; ops that only move or compare
/// elements support every dtype. All other kernels are tested against these.
std::vector<detail::Implementation> reference_implementations();

namespace reference {

using Creator = std::unique_ptr<Kernel>(const KernelRequest& request, std::string& reason);

/// One creator for each op of ops.def, defined in the file of the op or of its family: create_matmul, ...
#define MEZZO_OP(name, ...) Creator create_##name;
#define MEZZO_UNARY_OP(name, ...) Creator create_##name;
#define MEZZO_ALIAS_OP(...)
#include <mezzo/ops/rows/ops.def>
#undef MEZZO_OP
#undef MEZZO_UNARY_OP
#undef MEZZO_ALIAS_OP

}  // namespace reference
}  // namespace mezzo
