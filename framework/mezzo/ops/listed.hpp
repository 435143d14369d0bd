#pragma once
#include <functional>

#include <mezzo/graph/op.hpp>

// Compositions of ops that op lists treat as one op.
namespace mezzo::detail {

/// function(inputs). Under op lists the first input is cast by their entry for `op`, and lists have no effect on the
/// ops inside.
Values as_listed(const Op& op, const Values& inputs, const std::function<Values(const Values&)>& function);

/// The same for a function of one input with a result of its shape. In a functional graph it runs when the model is
/// called.
Value composed(const Op& op, const Value& x, std::function<Value(const Value&)> function);

/// reshape() of the result of an op inside of a composition: lists have no effect on it, except in a functional graph
/// outside of layers.
Value reshape_result(const Value& y, const Shape& shape);

/// True if op lists are in force here.
bool under_op_lists();

}  // namespace mezzo::detail
