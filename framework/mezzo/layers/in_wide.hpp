#pragma once
#include <functional>

#include <mezzo/graph/value.hpp>

namespace mezzo::detail {

/// function(inputs) of a layer whose constants come from outside: computed in at least float32, without rounding the
/// inputs to the compute dtype first, then cast to it. `shape` is that of the result.
Value in_wide(const Values& inputs, const Shape& shape, std::function<Value(const Values&)> function);

/// True if an input of a layer may have more digits than the current compute dtype: features from outside of the model.
bool is_wider_than_compute(const Value& x);

}  // namespace mezzo::detail
