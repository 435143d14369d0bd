#pragma once
#include <cstddef>
#include <cstdint>

#include <mezzo/graph/op.hpp>

namespace mezzo::detail {

/// Throws a DTypeError unless input i holds codes of a quantized weight.
void require_codes(const OpCall& call, std::size_t i);

/// Shape of the scales of an array of that shape: without `axes`, or with the number of blocks there if there is a
/// block size.
Shape shape_of_scales(const Shape& shape, const Shape& axes, std::int64_t block_size);

}  // namespace mezzo::detail
