#pragma once
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

/// Options of recurrence.
struct RecurrenceOptions {
  std::string kind = "lstm";                     ///< "simple_rnn", "lstm", "gru" or "gru_reset_before"
  std::string activation = "tanh";               ///< activation of the state (simple_rnn), the candidate and the carry
  std::string recurrent_activation = "sigmoid";  ///< activation of the gates; not used by simple_rnn
  Values initial_state{};                        ///< states before the first step, (batch, units); default: zeros
  Value bias{};                                  ///< (gates * units,), added to the recurrent product
  Value dropped{};                               ///< (batch, gates * units): factors of the state for each gate
  Value mask{};                                  ///< bool (batch, steps), false: the step is skipped; default: none
};

/// Result of recurrence.
struct RecurrenceResult {
  Value states;        ///< (batch, steps, units): state after each step
  Values last_states;  ///< (batch, units): state after the last step; for "lstm" two, state and carry
};

/// A recurrent layer over any number of steps in one op. `x`: the inputs times the kernel, (batch, steps, gates *
/// units); `recurrent_kernel`: (units, gates * units). Gates in Keras' order: i, f, c, o for "lstm"; z, r, h for "gru"
/// (reset gate after the product) and "gru_reset_before". A step that is skipped keeps the state. Intermediate results
/// are float32 (float64 for float64). Activations are names for which is_recurrent_activation() is true. Throws a
/// NameError for an unknown kind or activation, a ShapeError for other shapes.
MEZZO_API RecurrenceResult recurrence(const Value& x, const Value& recurrent_kernel,
                                      const RecurrenceOptions& options = {});

namespace detail {
/// True for names that recurrence supports: activations whose slope follows from their result ("tanh", "sigmoid",
/// "relu", "linear", "hard_sigmoid", ...).
MEZZO_API bool is_recurrent_activation(const std::string& name);
}  // namespace detail

}  // namespace mezzo
