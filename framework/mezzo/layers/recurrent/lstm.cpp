#include <mezzo/layers/recurrent/lstm.hpp>

#include <vector>

#include <mezzo/core/random.hpp>
#include <mezzo/nn/initializer.hpp>

namespace mezzo {
namespace {

/// Zeros or other values of an initializer, and ones for the forget gate, the second quarter.
class UnitForgetBias : public Initializer {
 public:
  explicit UnitForgetBias(Any<Initializer> others) : others_(std::move(others)) {}
  Tensor make(const Shape& shape, DType dtype, std::uint64_t key) const override {
    const std::int64_t units = shape.back() / 4;
    std::vector<double> bias = others_->make({units}, DType::float64, key).to_doubles();
    bias.insert(bias.end(), static_cast<std::size_t>(units), 1.0);
    const std::vector<double> rest = others_->make({2 * units}, DType::float64, detail::mix(key, 1)).to_doubles();
    bias.insert(bias.end(), rest.begin(), rest.end());
    return Tensor(shape, bias).cast(dtype);
  }

 private:
  Any<Initializer> others_;
};

template <class Options>
detail::RecurrentSettings lstm_settings(const Options& options) {
  detail::RecurrentSettings settings = detail::recurrent_settings(options, "lstm");
  settings.recurrent_activation = options.recurrent_activation;
  if (options.unit_forget_bias) settings.bias_initializer = detail::unit_forget_bias(options.bias_initializer);
  return settings;
}

LSTMCellOptions lstm_cell_options(const LSTMOptions& options) {
  LSTMCellOptions cell;
  detail::copy_recurrent_options(options, cell);
  cell.recurrent_activation = options.recurrent_activation;
  cell.unit_forget_bias = options.unit_forget_bias;
  return cell;
}

}  // namespace

Any<Initializer> detail::unit_forget_bias(Any<Initializer> others) { return UnitForgetBias(std::move(others)); }

LSTMCell::LSTMCell(const LSTMCellOptions& options) : FusedCell("LSTMCell", options, lstm_settings(options)) {}

LSTM::LSTM(const LSTMOptions& options) : RNN("LSTM", options, LSTMCell(lstm_cell_options(options)), "lstm_cell") {}

}  // namespace mezzo
