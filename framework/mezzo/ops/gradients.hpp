#pragma once
#include <cstddef>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// Gradients of `loss` with respect to each of `xs`, as ops inserted into the current trace; zeros for an x that the
/// loss doesn't depend on, unless x is a variable: a ValueError names it then. A loss that is not a scalar is summed.
/// `seed` is the cotangent of the loss (the loss scale). A gradient has the dtype of its x; the gradient of a float32
/// variable is float32 even if the step computes with a low-precision copy of it. Throws a ValueError outside a trace.
MEZZO_API Values gradients(const Value& loss, const Values& xs, const Value& seed = Value(1.0));

namespace detail {
struct VariableState;

/// The same, but undefined for an x that the loss doesn't depend on. Dependence through nodes of the trace before the
/// one of index `first` doesn't count.
MEZZO_API Values partial_gradients(const Value& loss, const Values& xs, const Value& seed, std::size_t first = 0);

/// Variable that a value reads; null if it is computed.
const VariableState* read_by(const Value& value);

/// Vector-Jacobian product in the current trace: cotangents of xs from those of ys, some of which may be undefined.
/// Undefined for an x that no y with a cotangent depends on. xs are nodes of the trace.
Values pull_back(const Values& ys, const Values& cotangents, const Values& xs);
}  // namespace detail

}  // namespace mezzo
