#pragma once
#include <string>

#include <mezzo/ops/helpers.hpp>

namespace mezzo::detail {

/// The shape of pooled images from theirs, of rank 4, by the attributes window, strides and padding.
Shape pooled_shape(const OpCall& call, const Shape& x);

/// Those attributes for images x.
Attributes pooling_attributes(const std::string& where, const Value& x, const Ints& pool_size, const Ints& strides,
                              const Padding& padding);

}  // namespace mezzo::detail
