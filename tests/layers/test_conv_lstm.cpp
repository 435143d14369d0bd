// ConvLSTM1D, ConvLSTM2D, ConvLSTM3D, and RNN with a cell with a matrix as state, against values recorded from Keras.
#include <mezzo/layers/recurrent/conv_lstm1d.hpp>
#include <mezzo/layers/recurrent/conv_lstm2d.hpp>
#include <mezzo/layers/recurrent/conv_lstm3d.hpp>
#include <mezzo/layers/recurrent/gru.hpp>
#include <mezzo/layers/recurrent/lstm.hpp>
#include <mezzo/layers/recurrent/simple_rnn.hpp>

#include "recurrent_parity.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct SquaresOptions {
  std::string name{};
  Policy dtype{};
};

// A cell with a vector and a matrix as states, whose output is none of them.
class Squares : public RNNCell {
 public:
  explicit Squares(const SquaresOptions& options = {}) : RNNCell("Squares", options) {}
  Shape state_size() const override { return {2, 4}; }
  std::int64_t output_size() const override { return 4; }
  std::vector<Shape> state_shapes(const Shape&) const override { return {{2}, {2, 2}}; }
  void build(const Shape& input) override {
    add_weight(kernel_, {.shape = {input.back(), 2}});
    add_weight(recurrent_, {.shape = {2, 2}});
    add_weight(bias_, {.shape = {2}});
  }

 protected:
  Values call_many(const Values& xs) override {
    const Value z = tanh(bias_add(matmul(xs[0], kernel_) + matmul(xs[1], recurrent_), bias_));
    const Value matrix = 0.5 * xs[2] + expand_dims(z, 2) * expand_dims(z, 1);
    const Value vector = sigmoid(sum(matrix, {.axes = {-1}})) * z;
    return {concat({vector, z}), vector, matrix};
  }

 private:
  Variable kernel_{"kernel"}, recurrent_{"recurrent_kernel"}, bias_{"bias"};
};

template <class L>
void check_conv_lstm(const std::string& kind, bool all) {
  const ConvLSTMOptions first{
      .filters = 2, .kernel_size = all ? 3 : 2, .padding = "same", .return_state = true, .name = "layer"};
  const auto check = [&](const char* end, const std::function<void(ConvLSTMOptions&)>& change) {
    ConvLSTMOptions options = first;
    change(options);
    check_recurrent(
        kind + end, [&] { return L(options); }, "recurrent_cells");
  };
  check("", [](ConvLSTMOptions&) {});
  check("_sequences", [](ConvLSTMOptions& o) { o.return_sequences = true; });
  if (!all) return;
  check("_backwards", [](ConvLSTMOptions& o) { o.return_sequences = o.go_backwards = true; });
  check("_strides", [](ConvLSTMOptions& o) {
    o.strides = 2;
    o.padding = "valid";
    o.use_bias = false;
  });
  check("_dilated", [](ConvLSTMOptions& o) {
    o.dilation_rate = 2;
    o.kernel_size = 2;
    o.padding = "valid";
    o.activation = "relu";
    o.recurrent_activation = "hard_sigmoid";
  });
  check("_masked_last", [](ConvLSTMOptions&) {});
  ConvLSTMOptions options = first;
  options.return_sequences = options.stateful = true;
  options.dtype = "float64";
  check_stateful_calls(recorded("recurrent_cells").at(kind + "_stateful"), L(options));
}

// Gradients in float64 along random directions equal central differences, of the input and of each weight.
template <class L>
void check_differences(const ConvLSTMOptions& options, const Shape& shape, const Tensor& mask = {}) {
  const detail::PolicyScope policy{Policy(DType::float64)};
  L layer(options);
  const auto loss_of = [&](L& one, const Value& x) {
    const Value y = one(x, {.mask = mask.size() > 0 ? Value(mask) : Value()});
    return sum(y * Value(random_tensor(y.shape(), DType::float64, 7)));
  };
  const Tensor given = random_tensor(shape, DType::float64);
  loss_of(layer, given);
  std::vector<Tensor> weights;
  for (const Variable& weight : layer.weights()) weights.push_back(random_tensor(weight.shape(), DType::float64, 9));
  layer.set_weights(weights);
  Trace trace(Trace::Mode::eager, false);
  const Value x = trace.input("x", given);
  Values by{x};
  for (const Variable& weight : layer.weights()) by.push_back(weight);
  const Values slopes = gradients(loss_of(layer, x), by);
  constexpr double step = 1e-6;
  for (std::size_t i = 0; i < by.size(); ++i) {
    BOOST_TEST_CONTEXT("operand " << i) {
      const Tensor start = i == 0 ? given : weights[i - 1],
                   direction = random_tensor(start.shape(), DType::float64, 20 + i);
      const auto loss_at = [&](double distance) {
        const Tensor moved = (Value(start) + Value(direction) * distance).tensor();
        std::vector<Tensor> all = weights;
        if (i > 0) all[i - 1] = moved;
        L other = clone(layer);
        other.set_weights(all);
        return loss_of(other, i == 0 ? moved : given).item();
      };
      const double expected = (loss_at(step) - loss_at(-step)) / (2 * step);
      const double slope = sum(slopes[i] * Value(direction)).item();
      BOOST_TEST(std::abs(slope) > 1e-4);
      BOOST_TEST(std::abs(slope - expected) <= 1e-7 + 1e-6 * std::abs(expected));
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(conv_lstm)

BOOST_AUTO_TEST_CASE(equal_keras) {
  check_conv_lstm<ConvLSTM1D>("conv_lstm1d", true);
  check_conv_lstm<ConvLSTM2D>("conv_lstm2d", true);
  check_conv_lstm<ConvLSTM3D>("conv_lstm3d", false);
}

BOOST_AUTO_TEST_CASE(gradients_are_differences) {
  const Tensor mask = Tensor({2, 3}, std::vector<double>{1, 0, 1, 0, 1, 1}).cast(DType::boolean);
  check_differences<ConvLSTM1D>({.filters = 2, .kernel_size = 3, .return_sequences = true}, {2, 3, 6, 2});
  check_differences<ConvLSTM1D>({.filters = 2, .kernel_size = 2, .padding = "same"}, {2, 3, 5, 2}, mask);
  check_differences<ConvLSTM2D>({.filters = 2, .kernel_size = {3, 2}, .strides = 2, .padding = "same"},
                                {2, 3, 5, 4, 2});
  check_differences<ConvLSTM2D>({.filters = 2,
                                 .kernel_size = 2,
                                 .dilation_rate = {1, 2},
                                 .activation = "softsign",
                                 .recurrent_activation = "softplus",
                                 .return_sequences = true,
                                 .go_backwards = true,
                                 .zero_output_for_mask = true},
                                {2, 3, 4, 5, 1}, mask);
  check_differences<ConvLSTM3D>({.filters = 2, .kernel_size = 2, .use_bias = false}, {2, 2, 3, 3, 4, 2});
}

BOOST_AUTO_TEST_CASE(states_of_any_shape) {
  const auto check = [](const std::string& name, RNNOptions options) {
    options.return_state = true;
    options.name = "layer";
    const auto make = [&] {
      options.cell = Squares({.name = "cell"});
      return RNN(options);
    };
    check_recurrent(name, make, "recurrent_cells");
  };
  check("squares", {});
  check("squares_sequences", {.return_sequences = true});
  check("squares_backwards", {.return_sequences = true, .go_backwards = true});
  check("squares_masked", {.return_sequences = true});
  check("squares_masked_last", {});
  check("squares_one_step", {.return_sequences = true});
  check_stateful_calls(recorded("recurrent_cells").at("squares_stateful"),
                       RNN(Squares({.name = "cell"}),
                           {.return_sequences = true, .return_state = true, .stateful = true, .dtype = "float64"}));
}

BOOST_AUTO_TEST_CASE(further_activations) {
  const auto check = [](const std::string& kind, const auto& make) {
    for (const char* end : {"_unfused", "_unfused_masked", "_unfused_without_bias"}) {
      const bool bias = std::string(end) != "_unfused_without_bias";
      check_recurrent(
          kind + end, [&] { return make(bias); }, "recurrent_cells");
    }
  };
  const auto common = [](auto options, bool bias) {
    options.units = 2;
    options.use_bias = bias;
    options.return_sequences = options.return_state = true;
    options.name = "layer";
    return options;
  };
  check("simple_rnn", [&](bool bias) { return SimpleRNN(common(SimpleRNNOptions{.activation = "gelu"}, bias)); });
  check("lstm", [&](bool bias) {
    return LSTM(common(LSTMOptions{.activation = "silu", .recurrent_activation = "softmax"}, bias));
  });
  check("gru", [&](bool bias) { return GRU(common(GRUOptions{.activation = "gelu"}, bias)); });
  check("gru_reset_before",
        [&](bool bias) { return GRU(common(GRUOptions{.recurrent_activation = "mish", .reset_after = false}, bias)); });
}

BOOST_AUTO_TEST_CASE(dropout_in_training_only) {
  const Tensor x = random_tensor({2, 3, 4, 4, 2});
  for (const bool recurrent : {false, true}) {
    ConvLSTM2D layer(3, 3, {.dropout = recurrent ? 0.0 : 0.5, .recurrent_dropout = recurrent ? 0.5 : 0.0});
    const auto run = [&](bool training) {
      Trace trace(Trace::Mode::eager, training);
      return layer(trace.input("x", x)).tensor();
    };
    BOOST_TEST(run(false).equal(layer(x).tensor()));
    BOOST_TEST(run(true).equal(run(true)));
    BOOST_TEST(!run(true).equal(run(false)));
  }
}

BOOST_AUTO_TEST_CASE(mistakes_are_errors) {
  check_throws<ValueError>("[ConvLSTMCell] filters must be at least 1; got 0", [] { ConvLSTM1D layer(0, 3); });
  check_throws<ValueError>("[ConvLSTMCell] strides or dilation_rate must be 1; got (2, 2) and (3, 3)",
                           [] { ConvLSTM2D layer(2, 3, {.strides = 2, .dilation_rate = 3}); });
  ConvLSTM2D layer(2, 3, {.name = "c"});
  check_throws<ShapeError>(
      "[ConvLSTM2D \"c\"] input must have rank 5 (batch, steps, spatial axes..., channels); got shape (2, 3, 4, 5): "
      "add a batch axis if this is one sample",
      [&] {
        layer(Tensor({2, 3, 4, 5}));
      });
}

BOOST_AUTO_TEST_SUITE_END()
