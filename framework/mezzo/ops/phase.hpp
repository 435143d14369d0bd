#pragma once
#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>

// State of the run, for the call() of layers. In a functional model the values are those of each call of the model.
namespace mezzo {

/// True in training steps, and in layers that were called with `{.training = true}`: bool of shape (). Use where() on
/// it: `where(training(), noisy, x)`.
MEZZO_API Value training();

/// Training steps taken so far: int64 of shape (). 0 outside of steps and of a CompiledFunction.
MEZZO_API Value step();

/// Completed epochs: int64 of shape (). 0 outside of steps and of a CompiledFunction.
MEZZO_API Value epoch();

}  // namespace mezzo
