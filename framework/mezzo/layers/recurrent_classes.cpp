#include <mezzo/layers/classes.hpp>

#include <mezzo/layers/gru.hpp>
#include <mezzo/layers/lstm.hpp>
#include <mezzo/layers/simple_rnn.hpp>

namespace mezzo {

/// Options that all recurrent layers and cells have.
template <class Options>
static void describe_recurrent(Fields& fields, Options& options) {
  fields("units", options.units);
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

static void describe(Fields& fields, SimpleRNNCellOptions& options) { describe_recurrent(fields, options); }

static void describe(Fields& fields, SimpleRNNOptions& options) {
  describe_recurrent(fields, options);
  describe_sequence(fields, options);
}

static void describe(Fields& fields, LSTMCellOptions& options) {
  describe_recurrent(fields, options);
  fields("recurrent_activation", options.recurrent_activation);
  fields("unit_forget_bias", options.unit_forget_bias);
}

static void describe(Fields& fields, LSTMOptions& options) {
  describe_recurrent(fields, options);
  describe_sequence(fields, options);
  fields("recurrent_activation", options.recurrent_activation);
  fields("unit_forget_bias", options.unit_forget_bias);
}

static void describe(Fields& fields, GRUCellOptions& options) {
  describe_recurrent(fields, options);
  fields("recurrent_activation", options.recurrent_activation);
  fields("reset_after", options.reset_after);
}

static void describe(Fields& fields, GRUOptions& options) {
  describe_recurrent(fields, options);
  describe_sequence(fields, options);
  fields("recurrent_activation", options.recurrent_activation);
  fields("reset_after", options.reset_after);
}

std::vector<detail::SavedClass<Layer>> recurrent_layer_classes() {
  return {detail::saved_class<GRU, GRUOptions, Layer>("GRU"),
          detail::saved_class<GRUCell, GRUCellOptions, Layer>("GRUCell"),
          detail::saved_class<LSTM, LSTMOptions, Layer>("LSTM"),
          detail::saved_class<LSTMCell, LSTMCellOptions, Layer>("LSTMCell"),
          detail::saved_class<SimpleRNN, SimpleRNNOptions, Layer>("SimpleRNN"),
          detail::saved_class<SimpleRNNCell, SimpleRNNCellOptions, Layer>("SimpleRNNCell")};
}

}  // namespace mezzo
