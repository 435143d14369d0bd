#pragma once
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/gradient.hpp>
#include <mezzo/ops/grad.hpp>

namespace mezzo {

class Layer;

/// Options of value_and_grad() for weights.
struct ValueAndGradOptions {
  /// true: the gradient by a weight that the loss doesn't depend on is undefined, and optimizers leave the weight
  /// alone, as torch's None; false: such a weight is an error.
  bool allow_unused = false;
  /// Mode of the layers that the function calls: true, as in training. Default: that of the step inside of
  /// compile_step() and other steps, otherwise true. A ValueError for another mode than that of the step.
  std::optional<bool> training{};
};

/// Result of value_and_grad() for weights.
struct LossAndGradients {
  Value loss;           ///< value of the function
  Gradients gradients;  ///< by the weights, in their order
};

/// The same for a function with further results.
struct LossGradientsAndAux {
  Value loss;           ///< first result of the function
  Gradients gradients;  ///< by the weights, in their order
  Values aux;           ///< the other results, which are not differentiated
};

/// @name Gradients by weights
/// Value of `function` and its gradients by the trainable weights of a model, or by variables: for training loops of
/// your own.
///
///     const auto [loss, gradients] = value_and_grad(model, [&] { return mean(square(model(x) - y)); });
///     optimizer.apply(gradients);
///
/// The function returns a floating number, of shape (). It computes at once, or inside of compile_step(). Inside of
/// another value_and_grad(), results are differentiable. Only what the function itself computes is differentiated:
/// other Values that it uses count as constants. Updates of moving statistics take effect. A gradient has the shape and
/// dtype of its weight, also if layers read the weight in a lower precision.
///
/// Throws a ValueError if the loss doesn't depend on one of the weights, unless `allow_unused`, if there are none, or
/// if a variable has no numbers; a ShapeError for a result of another shape, a DTypeError for one that is not floating.
/// @{
MEZZO_API LossAndGradients value_and_grad(const Layer& model, const std::function<Value()>& function,
                                          const ValueAndGradOptions& options = {});
MEZZO_API LossAndGradients value_and_grad(const std::vector<Variable>& variables,
                                          const std::function<Value()>& function,
                                          const ValueAndGradOptions& options = {});

/// A function that returns a pair of the loss and further results.
MEZZO_API LossGradientsAndAux value_and_grad(const Layer& model,
                                             const std::function<std::pair<Value, Values>()>& function,
                                             const ValueAndGradOptions& options = {});
MEZZO_API LossGradientsAndAux value_and_grad(const std::vector<Variable>& variables,
                                             const std::function<std::pair<Value, Values>()>& function,
                                             const ValueAndGradOptions& options = {});
/// @}

}  // namespace mezzo
