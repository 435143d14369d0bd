#pragma once
#include <functional>
#include <type_traits>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

namespace detail {
MEZZO_API void calibrate_by(Layer& layer, const std::function<void()>& run);
}  // namespace detail

/// Chooses the scales of the inputs of products with static activations below `layer`: 127 / (the largest magnitude in
/// these batches + 1e-7). Larger magnitudes are clipped later. `run` calls the layer on batches, outside of steps:
///
///     model.quantize("int8", {.activations = "static"});
///     calibrate(model, [&] { for (const Tensor& x : batches) model(x, {.training = false}); });
///
/// Inputs are not quantized meanwhile. A ValueError if there is no such weight, `run` reached one of them with no
/// input or with zeros alone, or inputs have no elements, NaN or infinity; no scale changes then.
template <class Run, std::enable_if_t<std::is_invocable_v<const Run&>, int> = 0>
void calibrate(Layer& layer, const Run& run) {
  detail::calibrate_by(layer, run);
}

/// The same with batches of a layer with one input.
MEZZO_API void calibrate(Layer& layer, const std::vector<Tensor>& batches);

namespace detail {
/// Notes inputs of a product with a quantized weight if this thread calibrates. True if it does.
bool note_inputs(const Value& x, const VariableState& weight);
}  // namespace detail

}  // namespace mezzo
