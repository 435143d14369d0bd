#pragma once
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// Gradients of `loss` with respect to each of `xs`, as ops inserted into the running trace; zeros for an x that the
/// loss doesn't depend on. A loss that is no scalar is summed. `seed` is the cotangent of the loss (the loss scale). A
/// gradient has the dtype of its x; that of a float32 variable is float32 even where the step computes with a
/// low-precision copy of it. A ValueError outside of a trace.
Values gradients(const Value& loss, const Values& xs, const Value& seed = Value(1.0));

/// The same, but undefined for an x that the loss doesn't depend on.
Values partial_gradients(const Value& loss, const Values& xs, const Value& seed);

}  // namespace mezzo
