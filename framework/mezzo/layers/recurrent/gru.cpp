#include <mezzo/layers/recurrent/gru.hpp>

namespace mezzo {
namespace {

template <class Options>
detail::RecurrentSettings gru_settings(const Options& options) {
  detail::RecurrentSettings settings =
      detail::recurrent_settings(options, options.reset_after ? "gru" : "gru_reset_before");
  settings.recurrent_activation = options.recurrent_activation;
  return settings;
}

GRUCellOptions gru_cell_options(const GRUOptions& options) {
  GRUCellOptions cell;
  detail::copy_recurrent_options(options, cell);
  cell.recurrent_activation = options.recurrent_activation;
  cell.reset_after = options.reset_after;
  return cell;
}

}  // namespace

GRUCell::GRUCell(const GRUCellOptions& options) : FusedCell("GRUCell", options, gru_settings(options)) {}

GRU::GRU(const GRUOptions& options) : RNN("GRU", options, GRUCell(gru_cell_options(options)), "gru_cell") {}

}  // namespace mezzo
