#pragma once
#include <memory>

#include <mezzo/nn/layer_state.hpp>

// Regularization and constraints of weights, for layers and training steps.
namespace mezzo::detail {

/// A loss as a scalar of at least float32: its elements are summed.
Value as_loss(const Value& loss);

/// Penalty of a weight by its regularizer, which it must have: a scalar of at least float32.
Value penalty_of(const Variable& weight);

/// Penalty of a layer's output, divided by its batch size as in Keras.
Value activity_penalty(const Any<Regularizer>& regularizer, const Value& output);

/// Adds a loss of the layer to the running step, to the functional graph, or to the state that losses() reads.
void add_loss(const Shared<LayerState>& layer, const Value& loss);

/// Applies the constraint of an updated variable to it. Does nothing without a constraint.
MEZZO_API void constrain(const std::shared_ptr<VariableState>& variable);

}  // namespace mezzo::detail
