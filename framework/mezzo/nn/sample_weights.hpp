#pragma once
#include <string>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo::detail {

/// Sample weights in the dtype of `values`, with axes of size 1 added at the end so that they broadcast to `values`.
/// Errors start with `[name]`: a ShapeError unless the weights have the first axes of the values, or one axis of size 1
/// more than these.
Value weight_like(const std::string& name, const Value& weight, const Value& values);

/// Mask of the values, bool and broadcasting to them: true where the mask of y_pred and the mask of the values are
/// true. Undefined if neither is defined, or if the values are a scalar. Errors start with `[name]`: a ShapeError
/// unless the mask of y_pred has the first axes of the values.
Value mask_of(const std::string& name, const Value& of_pred, const Value& of_values, const Value& values);

/// Sample weights that are 0 where the mask is false: (batch,) weights and a (batch, steps) mask become (batch, steps).
/// Either may be undefined.
Value masked_weight(const Value& weight, const Value& mask);

/// Weighted values and weights, one per sample, as float64: (batch,) each, or () and () for a scalar. Values with more
/// axes than the weights are averaged over these first, as in Keras. Without weights the second is undefined.
MEZZO_API std::pair<Value, Value> samplewise(const std::string& name, const Value& values, const Value& weight);

}  // namespace mezzo::detail
