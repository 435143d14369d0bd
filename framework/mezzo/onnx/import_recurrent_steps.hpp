#pragma once
#include <optional>
#include <string>
#include <vector>

#include <mezzo/onnx/import_call.hpp>
#include <mezzo/ops/recurrence.hpp>

namespace mezzo::detail {

/// An activation of a recurrent operator with its numbers.
struct OnnxActivation {
  std::string name;  ///< in lower case: "hardsigmoid"
  double alpha = 0, beta = 0;

  /// mezzo's name of it for recurrence(); none if there is none.
  std::optional<std::string> of_recurrence() const;
  Value operator()(const Value& x) const;
};

/// Reads the attributes activations, activation_alpha and activation_beta: `count` functions for each direction, by
/// default `otherwise`.
std::vector<OnnxActivation> onnx_activations(OnnxCall& call, std::size_t count,
                                             const std::vector<std::string>& otherwise);

/// A direction of a recurrent operator with parts that recurrence() lacks.
struct OnnxCell {
  std::string kind;                         ///< of recurrence(), with its order of gates
  std::vector<OnnxActivation> functions{};  ///< of the gates, of the candidate, of an LSTM's carry
  Value recurrent{}, bias{};                ///< (units, gates units); (gates units,), added to the recurrent product
  Values peepholes{};                       ///< (units,) for the gates i, o and f of an LSTM; {}: none
  std::optional<double> clip{};             ///< bound of the inputs of gates
  bool coupled = false;                     ///< the forget gate is 1 - i
};

/// Runs the cell for each step of x (batch, steps, gates units). `initial`: (batch, units), two for an LSTM. `mask`:
/// bool (batch, steps), or undefined.
RecurrenceResult run_onnx_steps(const OnnxCell& cell, const Value& x, const Values& initial, const Value& mask);

}  // namespace mezzo::detail
