#pragma once
#include <mezzo/graph/attributes.hpp>
#include <mezzo/ops/conv2d.hpp>

namespace mezzo::detail {

/// Attributes of a conv2d node of x and a kernel of that shape. Sizes of x must be known, except for the batch.
Attributes conv2d_attributes(const Value& x, const Shape& kernel, const Conv2DOpOptions& options);

/// Shape of the result of a conv2d node with these attributes. Throws its errors of shapes.
Shape conv2d_shape(const Value& x, const Shape& kernel, const Attributes& attributes);

}  // namespace mezzo::detail
