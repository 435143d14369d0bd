#pragma once
#include <mezzo/layers/recurrent/conv_lstm.hpp>

namespace mezzo {

/// LSTM on sequences of images (batch, steps, height, width, channels) with convolutions in place of matrix products
/// (Shi et al., 2015): `ConvLSTM2D(32, 3, {.padding = "same", .return_sequences = true})`. i, f, o =
/// recurrent_activation(...), c' = f c + i activation(...), state' = o activation(c'), each (...) = conv(x, kernel) +
/// conv(state, recurrent_kernel) + bias. Weights, with the gates in the order i, f, c, o: kernel (height, width,
/// channels, 4 filters), recurrent_kernel (height, width, filters, 4 filters), bias (4 filters,). Channels are last
/// (Keras' channels_last). Calls, masks and states as those of RNN. A ShapeError for inputs of another rank or of
/// unknown sizes, except batch and steps.
class MEZZO_API ConvLSTM2D : public detail::FiltersFirst<detail::ConvLSTMLayer<2>> {
 public:
  using FiltersFirst::FiltersFirst;
};

using ConvLSTM2DOptions = ConvLSTMOptions;

}  // namespace mezzo
