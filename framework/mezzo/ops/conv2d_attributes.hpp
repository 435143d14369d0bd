#pragma once
#include <mezzo/graph/attributes.hpp>
#include <mezzo/ops/conv2d.hpp>

namespace mezzo::detail {

/// Attributes of a conv2d node of x and a kernel of that shape. Sizes of x must be known, except for the batch.
Attributes conv2d_attributes(const Value& x, const Shape& kernel, const Conv2DOpOptions& options);

}  // namespace mezzo::detail
