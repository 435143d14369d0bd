#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/graph/attributes.hpp>

namespace mezzo::detail {

/// Attributes of recurrence or recurrence_gradient, with the places of their operands. Operands that are absent have
/// the place `none`.
struct MEZZO_API RecurrenceLayout {
  enum class Kind { simple_rnn, lstm, gru, gru_reset_before };
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  /// Throws a NameError for an unknown kind.
  RecurrenceLayout(const Attributes& attributes, bool gradient);

  Kind kind = Kind::lstm;
  std::string activation, recurrent_activation;
  std::int64_t gates = 4;  ///< number of matrices in the recurrent kernel
  std::int64_t saved = 4;  ///< arrays of `units` that output 2 holds for each step; 0: no output 2
  std::size_t input_count = 0, output_count = 0;  ///< of recurrence or of its gradient

  // Places of the inputs.
  std::size_t x = none, kernel = none, state = none, carry = none, bias = none, dropped = none, mask = none;
  // Places of further inputs of the gradient: cotangents and outputs of recurrence.
  std::size_t of_states = none, of_last = none, of_carry = none, states = none, saved_gates = none, carries = none;

  // Places of further outputs of the gradient: the bias' cotangent, and the states before each step.
  std::size_t sums = none, before = none;

  bool is_gru() const { return kind == Kind::gru || kind == Kind::gru_reset_before; }
};

}  // namespace mezzo::detail
