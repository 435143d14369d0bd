#pragma once
#include <functional>

#include <mezzo/graph/value.hpp>

namespace mezzo {

/// What a function with a gradient of its own returns.
struct CustomGradientResult {
  Value value;  ///< the function's value

  /// The cotangent of each argument, in their order, from that of `value`; undefined for an argument without one.
  std::function<Values(const Value& upstream)> gradient;
};

/// A function whose gradient is the one that it returns, in place of that of its ops, as keras.ops.custom_gradient:
///
///     const auto log1pexp = custom_gradient([](const Values& x) {
///       const Value e = exp(x[0]);
///       return CustomGradientResult{log(1 + e), [e](const Value& upstream) { return Values{upstream * (1 - 1 / (1 +
///       e))}; }};
///     });
///     const Value y = log1pexp({x});
///
/// The function is traced where it is called; a Model's functional graph calls it again when the model is called.
/// Gradients of gradients are those of the ops that `gradient` inserts. Errors: a ValueError if the function returns no
/// value or no gradient, or if the gradient doesn't return one entry for each argument.
std::function<Value(const Values& arguments)> custom_gradient(
    std::function<CustomGradientResult(const Values& arguments)> function);

}  // namespace mezzo
