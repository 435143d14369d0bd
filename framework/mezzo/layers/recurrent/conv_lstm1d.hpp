#pragma once
#include <mezzo/layers/recurrent/conv_lstm.hpp>

namespace mezzo {

/// LSTM on sequences of signals (batch, steps, length, channels) with convolutions in place of matrix products (Shi et
/// al., 2015): `ConvLSTM1D(32, 3, {.padding = "same", .return_sequences = true})`. i, f, o = recurrent_activation(...),
/// c' = f c + i activation(...), state' = o activation(c'), each (...) = conv(x, kernel) + conv(state,
/// recurrent_kernel) + bias. Weights, with the gates in the order i, f, c, o: kernel (length, channels, 4 filters),
/// recurrent_kernel (length, filters, 4 filters), bias (4 filters,). Channels are last (Keras' channels_last). Calls,
/// masks and states as those of RNN. A ShapeError for inputs of another rank or of unknown sizes, except batch and
/// steps.
class MEZZO_API ConvLSTM1D : public detail::FiltersFirst<detail::ConvLSTMLayer<1>> {
 public:
  using FiltersFirst::FiltersFirst;
};

using ConvLSTM1DOptions = ConvLSTMOptions;

}  // namespace mezzo
