#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/layers/first_arguments.hpp>
#include <mezzo/layers/recurrent/rnn.hpp>

namespace mezzo {

/// Options of ConvLSTM1D, ConvLSTM2D and ConvLSTM3D. `kernel_size`, `strides` and `dilation_rate` are one number for
/// all spatial axes or one for each.
struct ConvLSTMOptions {
  detail::Named named{};                      ///< leave it out
  std::int64_t filters = 0;                   ///< required; channels of the states and the output, at least 1
  detail::Ints kernel_size = detail::Ints();  ///< required; sizes of both kernels, at least 1
  detail::Ints strides = 1;                   ///< step between outputs of the convolution of the inputs, at least 1
  std::string padding = "valid";  ///< padding of the inputs' convolution: "valid" (none) or "same"; the state's is
                                  ///< "same"
  detail::Ints dilation_rate =
      1;  ///< step between the taps of the inputs' kernel, at least 1; 1 if strides are above 1
  ActivationFunction activation = "tanh";                  ///< name or function, of the candidate and the carry
  ActivationFunction recurrent_activation = "sigmoid";     ///< name or function, of the gates
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
  double dropout = 0;                   ///< probability of a dropped input in training, in [0, 1); alike in all steps
  double recurrent_dropout = 0;         ///< the same for the state before each step
  std::optional<std::uint64_t> seed{};  ///< seed of dropout; default: that of seed_everything()
  bool return_sequences = false;        ///< true: returns the output of each step, false: that of the last one
  bool return_state = false;            ///< true: returns the states after the last step, too
  bool go_backwards = false;            ///< true: starts with the last step, and returns the outputs in that order
  bool stateful = false;                ///< true: starts with the states that the last call ended with
  bool zero_output_for_mask = false;    ///< true: the output of a skipped step is 0, else that of the step before
  std::string name{};                   ///< name of the layer; "": automatic ("conv_lstm2d", "conv_lstm2d_1")
  Policy dtype{};                       ///< precision policy; default: the policy of the enclosing layer or model
  bool trainable = true;                ///< false: training does not change the weights
};

namespace detail {

/// Common part of ConvLSTM1D, ConvLSTM2D and ConvLSTM3D.
template <std::size_t Axes>
class MEZZO_API ConvLSTMLayer : public RNN {
 public:
  using Options = ConvLSTMOptions;
  static constexpr const char* kind = Axes == 1 ? "ConvLSTM1D" : Axes == 2 ? "ConvLSTM2D" : "ConvLSTM3D";

  /// A ValueError for a number below 1, a dropout outside of [0, 1), or strides above 1 with a dilation_rate above 1. A
  /// NameError for an unknown padding.
  explicit ConvLSTMLayer(const Options& options);
  void build(const Shape& input) override;
};

extern template class ConvLSTMLayer<1>;
extern template class ConvLSTMLayer<2>;
extern template class ConvLSTMLayer<3>;

}  // namespace detail
}  // namespace mezzo
