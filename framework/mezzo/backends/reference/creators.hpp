#pragma once
#include <memory>
#include <string>

#include <mezzo/compiler/kernel.hpp>

namespace mezzo::reference {

using Creator = std::unique_ptr<Kernel>(const KernelRequest& request, std::string& reason);

/// One for each op of ops.def, defined in the file of the op or of its family: create_matmul, ...
#define MEZZO_OP(name, ...) Creator create_##name;
#define MEZZO_UNARY_OP(name, ...) Creator create_##name;
#define MEZZO_ALIAS_OP(...)
#include <mezzo/ops/ops.def>
#undef MEZZO_OP
#undef MEZZO_UNARY_OP
#undef MEZZO_ALIAS_OP

}  // namespace mezzo::reference
