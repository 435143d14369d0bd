#pragma once
#include <vector>

#include <mezzo/core/isa.hpp>

namespace mezzo::detail {

/// Instruction sets that this library has kernels for, as MEZZO_KERNELS chose when it was configured; the lowest first.
const std::vector<Isa>& compiled_isas();

/// The highest of the compiled instruction sets that is not above `best`. Throws an Error if there is none.
Isa usable_isa(Isa best, const std::vector<Isa>& compiled);

}  // namespace mezzo::detail
