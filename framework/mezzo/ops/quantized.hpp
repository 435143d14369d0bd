#pragma once
#include <cstddef>
#include <cstdint>

#include <mezzo/graph/op.hpp>

namespace mezzo::detail {

/// Throws a DTypeError unless input i holds codes of a quantized weight.
void require_codes(const OpCall& call, std::size_t i);

/// True if the op's codes are those of NF4.
bool is_nf4(const Attributes& attributes);

/// True if the codes of quantized_matmul have zero points.
bool has_zero(const Attributes& attributes);

}  // namespace mezzo::detail
