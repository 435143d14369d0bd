#pragma once
#include <cstdint>
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/recurrent/rnn.hpp>

namespace mezzo {

struct LSTMCellOptions {
  std::int64_t units = 0;                                  ///< required; size of the state, at least 1
  ActivationFunction activation = "tanh";                  ///< name; "linear": none
  ActivationFunction recurrent_activation = "sigmoid";     ///< name, of the gates
  bool use_bias = true;                                    ///< true: adds a bias
  Any<Initializer> kernel_initializer = "glorot_uniform";  ///< initial kernel
  Any<Initializer> recurrent_initializer = "orthogonal";   ///< initial recurrent kernel
  Any<Initializer> bias_initializer = "zeros";             ///< initial bias
  bool unit_forget_bias = true;                            ///< true: the bias of the forget gate starts as 1
  Any<Regularizer> kernel_regularizer{};                   ///< penalty of the kernel, added to the loss
  Any<Regularizer> recurrent_regularizer{};                ///< penalty of the recurrent kernel
  Any<Regularizer> bias_regularizer{};                     ///< penalty of the bias
  Any<Constraint> kernel_constraint{};                     ///< projects the kernel after each update
  Any<Constraint> recurrent_constraint{};                  ///< projects the recurrent kernel
  Any<Constraint> bias_constraint{};                       ///< projects the bias
  double dropout = 0;            ///< probability of an input to be dropped in training, in [0, 1); for all steps alike
  double recurrent_dropout = 0;  ///< the same for the state before each step, for each gate
  std::optional<std::uint64_t> seed{};  ///< seed of dropout; default: that of seed_everything()
  std::string name{};                   ///< name of the layer; "": automatic ("lstm_cell", "lstm_cell_1")
  Policy dtype{};                       ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;                ///< false: training does not change the weights
};

/// One step of LSTM (Hochreiter and Schmidhuber, 1997): i, f, o = recurrent_activation(...), c' = f c + i
/// activation(...), state' = o activation(c'), each (...) = x kernel + state recurrent_kernel + bias. Weights with the
/// gates in the order i, f, c, o: kernel (features, 4 units), recurrent_kernel (units, 4 units), bias (4 units,).
/// Activations are names that the op recurrence supports: "tanh", "sigmoid", "relu", "linear", "hard_sigmoid", ...
class MEZZO_API LSTMCell : public detail::FusedCell {
 public:
  /// A ValueError if units is below 1, a dropout lies outside of [0, 1) or recurrence does not support an activation.
  explicit LSTMCell(const LSTMCellOptions& options = {});

  /// Positional: `LSTMCell(32)`.
  template <class I, detail::IfInteger<I> = 0>
  explicit LSTMCell(I units, LSTMCellOptions options = {})
      : LSTMCell(detail::positional("LSTMCell", options.name, "units", &LSTMCellOptions::units,
                                    static_cast<std::int64_t>(units), options)) {}
};

struct LSTMOptions {
  std::int64_t units = 0;                                  ///< required; size of the state, at least 1
  ActivationFunction activation = "tanh";                  ///< name; "linear": none
  ActivationFunction recurrent_activation = "sigmoid";     ///< name, of the gates
  bool use_bias = true;                                    ///< true: adds a bias
  Any<Initializer> kernel_initializer = "glorot_uniform";  ///< initial kernel
  Any<Initializer> recurrent_initializer = "orthogonal";   ///< initial recurrent kernel
  Any<Initializer> bias_initializer = "zeros";             ///< initial bias
  bool unit_forget_bias = true;                            ///< true: the bias of the forget gate starts as 1
  Any<Regularizer> kernel_regularizer{};                   ///< penalty of the kernel, added to the loss
  Any<Regularizer> recurrent_regularizer{};                ///< penalty of the recurrent kernel
  Any<Regularizer> bias_regularizer{};                     ///< penalty of the bias
  Any<Regularizer> activity_regularizer{};                 ///< penalty of the outputs, divided by the batch size
  Any<Constraint> kernel_constraint{};                     ///< projects the kernel after each update
  Any<Constraint> recurrent_constraint{};                  ///< projects the recurrent kernel
  Any<Constraint> bias_constraint{};                       ///< projects the bias
  double dropout = 0;            ///< probability of an input to be dropped in training, in [0, 1); for all steps alike
  double recurrent_dropout = 0;  ///< the same for the state before each step, for each gate
  std::optional<std::uint64_t> seed{};  ///< seed of dropout; default: that of seed_everything()
  bool return_sequences = false;        ///< true: returns the output of each step, false: that of the last one
  bool return_state = false;            ///< true: returns the states after the last step, too
  bool go_backwards = false;            ///< true: starts with the last step, and returns the outputs in that order
  bool stateful = false;                ///< true: starts with the states that the last call ended with
  bool zero_output_for_mask = false;    ///< true: the output of a skipped step is 0, else that of the step before
  std::string name{};                   ///< name of the layer; "": automatic ("lstm", "lstm_1")
  Policy dtype{};                       ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;                ///< false: training does not change the weights
};

/// RNN of a LSTMCell, named lstm_cell, with the same weights. Weight files have torch's names and layouts of
/// nn.LSTM: weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0; the one bias is the sum of the two.
class MEZZO_API LSTM : public RNN {
 public:
  /// Errors as LSTMCell's.
  explicit LSTM(const LSTMOptions& options = {});

  /// Positional: `LSTM(32, {.return_sequences = true})`.
  template <class I, detail::IfInteger<I> = 0>
  explicit LSTM(I units, LSTMOptions options = {})
      : LSTM(detail::positional("LSTM", options.name, "units", &LSTMOptions::units, static_cast<std::int64_t>(units),
                                options)) {}
};

}  // namespace mezzo
