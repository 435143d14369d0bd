#pragma once
#include <cstddef>
#include <cstdint>

#include <mezzo/graph/op.hpp>

namespace mezzo::detail {

/// Throws a DTypeError unless input i holds codes of a quantized weight.
void require_codes(const OpCall& call, std::size_t i);

}  // namespace mezzo::detail
