#pragma once
#include <functional>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// @name Gradients of functions
/// The function returns a number (shape ()) and is differentiated with respect to its arguments, which are floating.
/// They run at once, in a step and in functional models, and can be nested for second derivatives:
///
///     const auto slope = grad([](const Value& x) { return sum(x * x * x); });
///     slope(2.0).item();        // 12
///     grad(slope)(2.0).item();  // 12
///
/// Other Values that the function uses count as constants. The gradient of an unused argument is zeros. Throws a
/// ValueError if an argument is a variable that the function doesn't use, or that it also reads directly, for example
/// in a call of its layer: value_and_grad(model, function) has gradients by the weights that layers read; a ShapeError
/// for a result of another shape, a DTypeError for an argument or result that is not floating. C++ numbers are float32.
/// @{

/// x -> gradient of function(x), of x's shape and dtype.
MEZZO_API std::function<Value(const Value& x)> grad(std::function<Value(const Value& x)> function);

/// xs -> gradients with respect to each of xs.
MEZZO_API std::function<Values(const Values& xs)> grad(std::function<Value(const Values& xs)> function);

/// Result of value_and_grad.
struct ValueAndGrad {
  Value value;     ///< value of the function
  Value gradient;  ///< gradient with respect to its argument
};

/// x -> value and gradient of function(x).
MEZZO_API std::function<ValueAndGrad(const Value& x)> value_and_grad(std::function<Value(const Value& x)> function);
/// @}

}  // namespace mezzo
