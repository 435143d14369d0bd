#pragma once
#include <string>

#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/padding.hpp>

namespace mezzo::detail {

/// Output shape of pooling for images of shape x (rank 4) and the attributes window, strides and padding.
Shape pooled_shape(const OpCall& call, const Shape& x);

/// The attributes window, strides and padding for images x. `where` starts the errors.
Attributes pooling_attributes(const std::string& where, const Value& x, const Ints& pool_size, const Ints& strides,
                              const Padding& padding);

}  // namespace mezzo::detail
