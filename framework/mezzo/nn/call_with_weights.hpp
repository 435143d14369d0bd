#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>

namespace mezzo {

/// @name Calls with other weights
/// Calls a layer with `weights` in place of its trainable weights, in the order of trainable_weights(), as torch's
/// functional_call(): for gradients through an update of weights. The layer's own numbers stay. Gradients flow into
/// `weights`.
///
///     Values fast;
///     for (const Gradient& one : gradients) fast.push_back(one.weight - 0.1 * one.value);
///     const Value y = functional_call(model, fast, x);
///
/// A ValueError if the layer isn't built, or for another number of weights; a ShapeError for a weight of another shape,
/// a DTypeError for one that is not floating.
/// @{
MEZZO_API Value functional_call(Layer& layer, const Values& weights, const Value& x, const CallOptions& options = {});
MEZZO_API Values functional_call(Layer& layer, const Values& weights, const Values& xs,
                                 const CallOptions& options = {});
/// @}

}  // namespace mezzo
