#pragma once
#include <cstdint>
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/recurrent/rnn.hpp>

namespace mezzo {

struct SimpleRNNCellOptions {
  std::int64_t units = 0;                                  ///< required; size of the state, at least 1
  ActivationFunction activation = "tanh";                  ///< name; "linear": none
  bool use_bias = true;                                    ///< true: adds a bias
  Any<Initializer> kernel_initializer = "glorot_uniform";  ///< initial kernel
  Any<Initializer> recurrent_initializer = "orthogonal";   ///< initial recurrent kernel
  Any<Initializer> bias_initializer = "zeros";             ///< initial bias
  Any<Regularizer> kernel_regularizer{};                   ///< penalty of the kernel, added to the loss
  Any<Regularizer> recurrent_regularizer{};                ///< penalty of the recurrent kernel
  Any<Regularizer> bias_regularizer{};                     ///< penalty of the bias
  Any<Constraint> kernel_constraint{};                     ///< projects the kernel after each update
  Any<Constraint> recurrent_constraint{};                  ///< projects the recurrent kernel
  Any<Constraint> bias_constraint{};                       ///< projects the bias
  double dropout = 0;            ///< probability of an input to be dropped in training, in [0, 1); for all steps alike
  double recurrent_dropout = 0;  ///< the same for the state before each step
  std::optional<std::uint64_t> seed{};  ///< seed of dropout; default: that of seed_everything()
  std::string name{};                   ///< name of the layer; "": automatic ("simple_rnn_cell", "simple_rnn_cell_1")
  Policy dtype{};                       ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;                ///< false: training does not change the weights
};

/// One step of SimpleRNN (Elman, 1990): state' = activation(x kernel + state recurrent_kernel + bias), which is also
/// the output. Weights: kernel (features, units), recurrent_kernel (units, units), bias (units,). Activations are names
/// that the op recurrence supports: "tanh", "sigmoid", "relu", "linear", "hard_sigmoid", ...
class MEZZO_API SimpleRNNCell : public detail::FusedCell {
 public:
  /// A ValueError if units is below 1, a dropout lies outside of [0, 1) or recurrence does not support an activation.
  explicit SimpleRNNCell(const SimpleRNNCellOptions& options = {});

  /// Positional: `SimpleRNNCell(32)`.
  template <class I, detail::IfInteger<I> = 0>
  explicit SimpleRNNCell(I units, SimpleRNNCellOptions options = {})
      : SimpleRNNCell(detail::positional("SimpleRNNCell", options.name, "units", &SimpleRNNCellOptions::units,
                                         static_cast<std::int64_t>(units), options)) {}
};

struct SimpleRNNOptions {
  std::int64_t units = 0;                                  ///< required; size of the state, at least 1
  ActivationFunction activation = "tanh";                  ///< name; "linear": none
  bool use_bias = true;                                    ///< true: adds a bias
  Any<Initializer> kernel_initializer = "glorot_uniform";  ///< initial kernel
  Any<Initializer> recurrent_initializer = "orthogonal";   ///< initial recurrent kernel
  Any<Initializer> bias_initializer = "zeros";             ///< initial bias
  Any<Regularizer> kernel_regularizer{};                   ///< penalty of the kernel, added to the loss
  Any<Regularizer> recurrent_regularizer{};                ///< penalty of the recurrent kernel
  Any<Regularizer> bias_regularizer{};                     ///< penalty of the bias
  Any<Regularizer> activity_regularizer{};                 ///< penalty of the outputs, divided by the batch size
  Any<Constraint> kernel_constraint{};                     ///< projects the kernel after each update
  Any<Constraint> recurrent_constraint{};                  ///< projects the recurrent kernel
  Any<Constraint> bias_constraint{};                       ///< projects the bias
  double dropout = 0;            ///< probability of an input to be dropped in training, in [0, 1); for all steps alike
  double recurrent_dropout = 0;  ///< the same for the state before each step
  std::optional<std::uint64_t> seed{};  ///< seed of dropout; default: that of seed_everything()
  bool return_sequences = false;        ///< true: returns the output of each step, false: that of the last one
  bool return_state = false;            ///< true: returns the states after the last step, too
  bool go_backwards = false;            ///< true: starts with the last step, and returns the outputs in that order
  bool stateful = false;                ///< true: starts with the states that the last call ended with
  bool zero_output_for_mask = false;    ///< true: the output of a skipped step is 0, else that of the step before
  std::string name{};                   ///< name of the layer; "": automatic ("simple_rnn", "simple_rnn_1")
  Policy dtype{};                       ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;                ///< false: training does not change the weights
};

/// RNN of a SimpleRNNCell, named simple_rnn_cell, with the same weights. Weight files have torch's names and layouts of
/// nn.RNN: weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0; the one bias is the sum of the two.
class MEZZO_API SimpleRNN : public RNN {
 public:
  /// Errors as SimpleRNNCell's.
  explicit SimpleRNN(const SimpleRNNOptions& options = {});

  /// Positional: `SimpleRNN(32, {.return_sequences = true})`.
  template <class I, detail::IfInteger<I> = 0>
  explicit SimpleRNN(I units, SimpleRNNOptions options = {})
      : SimpleRNN(detail::positional("SimpleRNN", options.name, "units", &SimpleRNNOptions::units,
                                     static_cast<std::int64_t>(units), options)) {}
};

}  // namespace mezzo
