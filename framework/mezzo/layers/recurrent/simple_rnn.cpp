#include <mezzo/layers/recurrent/simple_rnn.hpp>

namespace mezzo {
namespace {

template <class Options>
detail::RecurrentSettings simple_rnn_settings(const Options& options) {
  detail::RecurrentSettings settings = detail::recurrent_settings(options, "simple_rnn");
  settings.recurrent_activation = "linear";
  return settings;
}

SimpleRNNCellOptions simple_rnn_cell_options(const SimpleRNNOptions& options) {
  SimpleRNNCellOptions cell;
  detail::copy_recurrent_options(options, cell);
  return cell;
}

}  // namespace

SimpleRNNCell::SimpleRNNCell(const SimpleRNNCellOptions& options)
    : FusedCell("SimpleRNNCell", options, simple_rnn_settings(options)) {}

SimpleRNN::SimpleRNN(const SimpleRNNOptions& options)
    : RNN("SimpleRNN", options, SimpleRNNCell(simple_rnn_cell_options(options)), "simple_rnn_cell") {}

}  // namespace mezzo
