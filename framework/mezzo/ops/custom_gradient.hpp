#pragma once
#include <functional>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// Result of a function with a gradient of its own.
struct CustomGradientResult {
  Value value;  ///< the function's value

  /// Returns the cotangent of each argument, in order; `upstream` is the cotangent of `value`. An undefined Value means
  /// no gradient for that argument.
  std::function<Values(const Value& upstream)> gradient;
};

/// Makes a function with its own gradient, in place of the gradient of its ops, as keras.ops.custom_gradient:
///
///     const auto log1pexp = custom_gradient([](const Values& x) {
///       const Value e = exp(x[0]);
///       return CustomGradientResult{log(1 + e), [e](const Value& upstream) { return Values{upstream * (1 - 1 / (1 +
///       e))}; }};
///     });
///     const Value y = log1pexp({x});
///
/// The function is traced where it is called; a Model's functional graph calls it again when the model is called.
/// Second derivatives differentiate the ops that `gradient` inserts. Throws a ValueError if the function returns no
/// value or no gradient, or if the gradient doesn't return one entry for each argument.
MEZZO_API std::function<Value(const Values& arguments)> custom_gradient(
    std::function<CustomGradientResult(const Values& arguments)> function);

}  // namespace mezzo
