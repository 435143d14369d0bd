#include <mezzo/layers/classes.hpp>

#include <mezzo/layers/recurrent/bidirectional.hpp>
#include <mezzo/layers/recurrent/conv_lstm1d.hpp>
#include <mezzo/layers/recurrent/conv_lstm2d.hpp>
#include <mezzo/layers/recurrent/conv_lstm3d.hpp>
#include <mezzo/layers/recurrent/gru.hpp>
#include <mezzo/layers/recurrent/lstm.hpp>
#include <mezzo/layers/recurrent/simple_rnn.hpp>
#include <mezzo/layers/recurrent/time_distributed.hpp>

namespace mezzo {

/// Options of the weights and of dropout, which all recurrent layers and cells have; not their size.
template <class Options>
static void describe_recurrent(Fields& fields, Options& options) {
  fields("activation", options.activation);
  fields("use_bias", options.use_bias);
  fields("kernel_initializer", options.kernel_initializer);
  fields("recurrent_initializer", options.recurrent_initializer);
  fields("bias_initializer", options.bias_initializer);
  fields("kernel_regularizer", options.kernel_regularizer);
  fields("recurrent_regularizer", options.recurrent_regularizer);
  fields("bias_regularizer", options.bias_regularizer);
  fields("kernel_constraint", options.kernel_constraint);
  fields("recurrent_constraint", options.recurrent_constraint);
  fields("bias_constraint", options.bias_constraint);
  fields("dropout", options.dropout);
  fields("recurrent_dropout", options.recurrent_dropout);
  fields("seed", options.seed);
}

/// Options of layers that cells lack.
template <class Options>
static void describe_sequence(Fields& fields, Options& options) {
  fields("activity_regularizer", options.activity_regularizer);
  fields("return_sequences", options.return_sequences);
  fields("return_state", options.return_state);
  fields("go_backwards", options.go_backwards);
  fields("stateful", options.stateful);
  fields("zero_output_for_mask", options.zero_output_for_mask);
}

static void describe(Fields& fields, BidirectionalOptions& options) {
  fields("layer", options.layer);
  fields("merge_mode", options.merge_mode);
  fields("backward_layer", options.backward_layer);
  fields("activity_regularizer", options.activity_regularizer);
}

static void describe(Fields& fields, ConvLSTMOptions& options) {
  fields("filters", options.filters);
  fields("kernel_size", options.kernel_size);
  fields("strides", options.strides);
  fields("padding", options.padding);
  fields("dilation_rate", options.dilation_rate);
  describe_recurrent(fields, options);
  describe_sequence(fields, options);
  fields("recurrent_activation", options.recurrent_activation);
  fields("unit_forget_bias", options.unit_forget_bias);
}

static void describe(Fields& fields, GRUOptions& options) {
  fields("units", options.units);
  describe_recurrent(fields, options);
  describe_sequence(fields, options);
  fields("recurrent_activation", options.recurrent_activation);
  fields("reset_after", options.reset_after);
}

static void describe(Fields& fields, GRUCellOptions& options) {
  fields("units", options.units);
  describe_recurrent(fields, options);
  fields("recurrent_activation", options.recurrent_activation);
  fields("reset_after", options.reset_after);
}

static void describe(Fields& fields, LSTMOptions& options) {
  fields("units", options.units);
  describe_recurrent(fields, options);
  describe_sequence(fields, options);
  fields("recurrent_activation", options.recurrent_activation);
  fields("unit_forget_bias", options.unit_forget_bias);
}

static void describe(Fields& fields, LSTMCellOptions& options) {
  fields("units", options.units);
  describe_recurrent(fields, options);
  fields("recurrent_activation", options.recurrent_activation);
  fields("unit_forget_bias", options.unit_forget_bias);
}

static void describe(Fields& fields, RNNOptions& options) {
  fields("cell", options.cell);
  describe_sequence(fields, options);
}

static void describe(Fields& fields, SimpleRNNOptions& options) {
  fields("units", options.units);
  describe_recurrent(fields, options);
  describe_sequence(fields, options);
}

static void describe(Fields& fields, SimpleRNNCellOptions& options) {
  fields("units", options.units);
  describe_recurrent(fields, options);
}

static void describe(Fields& fields, StackedRNNCellsOptions& options) { fields("cells", options.cells); }

static void describe(Fields& fields, TimeDistributedOptions& options) {
  fields("layer", options.layer);
  fields("activity_regularizer", options.activity_regularizer);
}

std::vector<detail::SavedClass<Layer>> recurrent_layer_classes() {
  return {detail::saved_layer<Bidirectional, BidirectionalOptions>("Bidirectional"),
          detail::saved_layer<ConvLSTM1D, ConvLSTMOptions>("ConvLSTM1D"),
          detail::saved_layer<ConvLSTM2D, ConvLSTMOptions>("ConvLSTM2D"),
          detail::saved_layer<ConvLSTM3D, ConvLSTMOptions>("ConvLSTM3D"),
          detail::saved_layer<GRU, GRUOptions>("GRU"),
          detail::saved_layer<GRUCell, GRUCellOptions>("GRUCell"),
          detail::saved_layer<LSTM, LSTMOptions>("LSTM"),
          detail::saved_layer<LSTMCell, LSTMCellOptions>("LSTMCell"),
          detail::saved_layer<RNN, RNNOptions>("RNN"),
          detail::saved_layer<SimpleRNN, SimpleRNNOptions>("SimpleRNN"),
          detail::saved_layer<SimpleRNNCell, SimpleRNNCellOptions>("SimpleRNNCell"),
          detail::saved_layer<StackedRNNCells, StackedRNNCellsOptions>("StackedRNNCells"),
          detail::saved_layer<TimeDistributed, TimeDistributedOptions>("TimeDistributed")};
}

}  // namespace mezzo
