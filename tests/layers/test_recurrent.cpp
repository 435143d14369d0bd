// SimpleRNN, LSTM, GRU, RNN and their cells, against values recorded from Keras.
#include <mezzo/io/safetensors.hpp>
#include <mezzo/layers/core/dense.hpp>
#include <mezzo/layers/recurrent/bidirectional.hpp>
#include <mezzo/layers/recurrent/gru.hpp>
#include <mezzo/layers/recurrent/lstm.hpp>
#include <mezzo/layers/recurrent/rnn.hpp>
#include <mezzo/layers/recurrent/simple_rnn.hpp>
#include <mezzo/layers/recurrent/time_distributed.hpp>

#include "recurrent_parity.hpp"
#include "support/folder.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// The call throws an error whose text ends with `text` or has it inside.
void check_error(const std::string& text, const std::function<void()>& call) {
  try {
    call();
    BOOST_ERROR("nothing was thrown; expected: " + text);
  } catch (const Error& e) {
    BOOST_TEST(std::string(e.what()).find(text) != std::string::npos, e.what());
  }
}

template <class Options>
Options common(Options options) {
  options.units = 2;
  options.return_state = true;
  options.name = "layer";
  return options;
}

// The cases of one kind. `with(change)` makes a layer with changed options.
template <class L, class Options>
void check_kind(const std::string& kind, const Options& first) {
  const auto check = [&](const char* end, const std::function<void(Options&)>& change) {
    Options options = common(first);
    change(options);
    check_recurrent(kind + end, [&] { return L(options); });
  };
  check("", [](Options&) {});
  check("_sequences", [](Options& o) { o.return_sequences = true; });
  check("_backwards", [](Options& o) { o.return_sequences = o.go_backwards = true; });
  check("_masked", [](Options& o) { o.return_sequences = true; });
  check("_masked_last", [](Options&) {});
  check("_zero_output", [](Options& o) { o.return_sequences = o.zero_output_for_mask = true; });
  check("_zero_last", [](Options& o) { o.zero_output_for_mask = true; });
  check("_without_bias", [](Options& o) { o.use_bias = false; });
  check("_one_step", [](Options& o) { o.return_sequences = true; });
  check("_relu", [](Options& o) {
    o.activation = "relu";
    if constexpr (!std::is_same_v<Options, SimpleRNNOptions>) o.recurrent_activation = "hard_sigmoid";
  });
  if constexpr (!std::is_same_v<Options, SimpleRNNOptions>) {
    const auto gated = [&](const char* end, const char* activation, const char* gate) {
      check(end, [&](Options& o) {
        o.activation = activation;
        o.recurrent_activation = gate;
      });
    };
    gated("_elu", "elu", "relu6");
    if (kind != "lstm") return;
    gated("_softsign", "softsign", "softplus");
    gated("_selu", "selu", "hard_tanh");
    gated("_exponential", "leaky_relu", "exp");
    check("_linear", [](Options& o) {
      o.activation = {};
      o.recurrent_activation = "log_sigmoid";
    });
  }
}

template <class L, class Options>
void check_stateful(const std::string& kind, const Options& first) {
  const nlohmann::json& expected = recorded("recurrent").at(kind + "_stateful");
  const detail::PolicyScope policy{Policy("float64")};
  Options options = common(first);
  options.return_sequences = options.stateful = true;
  L layer(options);
  layer.build(recorded_tensor(expected.at("input")).shape());
  check_stateful_calls(expected, layer);
  check_error("stateful: the batch size must be 2, that of the first call; got input shape (3, 4, 3)", [&] {
    layer(Tensor({3, 4, 3}, DType::float64));
  });
}

const GRUOptions before{.reset_after = false};

// Largest difference of the layer's output under a policy from that in float64, for inputs and weights up to 1.
template <class L>
double policy_error(const char* policy, bool masked) {
  std::vector<Tensor> outputs, weights;
  const Tensor x = random_tensor({3, 9, 8}), mask = random_tensor({3, 9}, DType::boolean);
  for (const char* name : {"float64", policy}) {
    L layer({.units = 8, .return_sequences = true, .dtype = name});
    layer(x);
    if (weights.empty()) weights = layer.get_weights();
    layer.set_weights(weights);
    outputs.push_back(layer(x, {.mask = masked ? Value(mask) : Value()}).tensor());
  }
  return largest_difference(outputs[1], outputs[0]);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(recurrent)

BOOST_AUTO_TEST_CASE(equal_keras) {
  check_kind<SimpleRNN, SimpleRNNOptions>("simple_rnn", {});
  check_kind<LSTM, LSTMOptions>("lstm", {});
  check_kind<GRU, GRUOptions>("gru", {});
  check_kind<GRU>("gru_reset_before", before);
}

BOOST_AUTO_TEST_CASE(stateful_layers_continue) {
  check_stateful<SimpleRNN, SimpleRNNOptions>("simple_rnn", {});
  check_stateful<LSTM, LSTMOptions>("lstm", {});
  check_stateful<GRU, GRUOptions>("gru", {});
  check_stateful<GRU>("gru_reset_before", before);
}

BOOST_AUTO_TEST_CASE(cells_on_top_of_each_other) {
  check_recurrent("stacked", [] {
    return RNN({LSTMCell(2, {.name = "one"}), GRUCell(2, {.name = "two"})},
               {.return_sequences = true, .name = "layer"});
  });
}

BOOST_AUTO_TEST_CASE(both_directions) {
  for (const std::string mode : {"sum", "mul", "concat", "ave", "none"}) {
    check_recurrent("bidirectional_" + mode, [&] {
      return Bidirectional(LSTM(2, {.return_sequences = true, .name = "inner"}), {.merge_mode = mode, .name = "layer"});
    });
  }
  check_recurrent("bidirectional_last",
                  [] { return Bidirectional(GRU(2, {.return_state = true, .name = "inner"}), {.name = "layer"}); });
  const Folder folder;
  const Tensor x = random_tensor({2, 3, 4});
  Bidirectional layer(LSTM(2)), other(LSTM(2));
  const Tensor expected = layer(x).tensor();
  other(x);
  layer.save_weights(folder.path("weights"));
  const SafetensorsFile file(folder.path("weights"));
  BOOST_TEST(file.entries().size() == 8U);
  BOOST_TEST((file.find("weight_hh_l0") != nullptr));
  BOOST_TEST((file.find("bias_ih_l0_reverse") != nullptr));
  other.load_weights(folder.path("weights"));
  BOOST_TEST(other(x).tensor().equal(expected));
  check_error("[Bidirectional] layer is required; got none", [] { Bidirectional none{BidirectionalOptions{}}; });
  check_error("[Bidirectional] merge_mode must be one of concat, sum, mul, ave, none; got \"max\"",
              [] { Bidirectional wrong(LSTM(2), {.merge_mode = "max"}); });
  check_error("[Bidirectional] layer and backward_layer must differ in go_backwards; got false twice",
              [] { Bidirectional wrong(LSTM(2), {.backward_layer = LSTM(3)}); });
  check_error("must have the same stateful, return_sequences and return_state", [] {
    Bidirectional wrong(LSTM(2), {.backward_layer = LSTM(3, {.return_state = true, .go_backwards = true})});
  });
}

BOOST_AUTO_TEST_CASE(a_layer_for_each_step) {
  check_recurrent("time_distributed",
                  [] { return TimeDistributed(Dense(2, {.activation = "tanh", .name = "inner"}), {.name = "layer"}); });
  check_error("[TimeDistributed] layer is required; got none", [] { TimeDistributed none{TimeDistributedOptions{}}; });
}

BOOST_AUTO_TEST_CASE(a_cell_makes_one_step) {
  const Tensor x = random_tensor({2, 3}), h = random_tensor({2, 4}), c = random_tensor({2, 4}, DType::float32, 7);
  LSTMCell cell(4);
  const Values step = cell(Values{x, h, c});
  BOOST_TEST_REQUIRE(step.size() == 3U);
  BOOST_TEST(step[0].tensor().equal(step[1].tensor()));
  RNN layer(cell, {.return_state = true});
  const Values whole = layer(Values{reshape(x, {2, 1, 3})}, {.initial_state = {h, c}});
  for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(whole[i].tensor().equal(step[i].tensor()));
}

BOOST_AUTO_TEST_CASE(initial_weights) {
  LSTM layer(3);
  layer.build({2, 5, 4});
  const auto weights = layer.named_weights();
  BOOST_TEST_REQUIRE(weights.size() == 3U);
  BOOST_TEST(weights[0].first == "lstm_cell/kernel");
  BOOST_TEST(weights[1].first == "lstm_cell/recurrent_kernel");
  BOOST_TEST(weights[2].second.value().to_doubles() == (std::vector<double>{0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0}),
             boost::test_tools::per_element());
  LSTM plain(3, {.unit_forget_bias = false, .stateful = true});
  plain.build({2, 5, 4});
  BOOST_TEST(plain.get_weights().at(2).equal(Tensor({12})));
  BOOST_TEST(plain.count_params() == 4 * 12 + 3 * 12 + 12);  // without the states
}

BOOST_AUTO_TEST_CASE(dropout_only_in_training) {
  const Tensor x = random_tensor({4, 6, 5});
  const auto run = [&](LSTM& layer, bool training) {
    Trace trace(Trace::Mode::eager, training);
    return layer(trace.input("x", x)).tensor();
  };
  for (const LSTMOptions& options :
       {LSTMOptions{.units = 8, .dropout = 0.5}, LSTMOptions{.units = 8, .recurrent_dropout = 0.5},
        LSTMOptions{.units = 8, .dropout = 0.3, .recurrent_dropout = 0.3, .seed = 5}}) {
    LSTM layer(options);
    BOOST_TEST(run(layer, false).equal(run(layer, false)));
    BOOST_TEST(run(layer, true).equal(run(layer, true)));
    BOOST_TEST(!run(layer, true).equal(run(layer, false)));
    LSTM same({.units = 8});
    same.build(x.shape());
    same.set_weights(layer.get_weights());
    BOOST_TEST(run(same, true).equal(run(layer, false)));
  }
}

BOOST_AUTO_TEST_CASE(policies_are_bounded) {
  const auto check = [](double bfloat16, double float16) {
    BOOST_TEST(bfloat16 <= 0.05);
    BOOST_TEST(float16 <= 0.006);
  };
  for (const bool masked : {false, true}) {
    check(policy_error<SimpleRNN>("mixed_bfloat16", masked), policy_error<SimpleRNN>("mixed_float16", masked));
    check(policy_error<LSTM>("mixed_bfloat16", masked), policy_error<LSTM>("mixed_float16", masked));
    check(policy_error<GRU>("mixed_bfloat16", masked), policy_error<GRU>("mixed_float16", masked));
  }
}

BOOST_AUTO_TEST_CASE(weight_files_have_torchs_names) {
  const Folder folder;
  const std::string path = folder.path("weights.safetensors");
  const Tensor x = random_tensor({2, 3, 4});
  const auto check = [&](auto layer, auto other, const std::vector<std::string>& biases) {
    const Tensor expected = layer(x).tensor();
    other(x);
    layer.save_weights(path);
    const SafetensorsFile file(path);
    BOOST_TEST(file.entries().size() == 2 + biases.size());
    for (const std::string& name : biases) BOOST_TEST((file.find(name) != nullptr), name);
    const std::vector<double> kernel = layer.get_weights()[0].to_doubles();
    const Tensor stored = file.read("weight_ih_l0");
    BOOST_TEST(stored.shape()[1] == 4);
    other.load_weights(path);
    BOOST_TEST(other(x).tensor().equal(expected));
  };
  const std::vector<std::string> both{"bias_ih_l0", "bias_hh_l0"};
  const auto bias = [](auto layer) {
    layer.build({2, 3, 4});
    std::vector<Tensor> weights = layer.get_weights();
    weights.back() = random_tensor(weights.back().shape());
    layer.set_weights(weights);
    return layer;
  };
  check(bias(SimpleRNN(2)), SimpleRNN(2), both);
  check(bias(LSTM(2)), LSTM(2), both);
  check(bias(GRU(2)), GRU(2), both);
  check(GRU(2, {.use_bias = false}), GRU(2, {.use_bias = false}), {});
  // torch's order of gates is r, z, n.
  GRU gru(1);
  gru.build({1, 1, 1});
  gru.set_weights({Tensor({1, 3}, std::vector<float>{1, 2, 3}), Tensor({1, 3}, std::vector<float>{4, 5, 6}),
                   Tensor({2, 3}, std::vector<float>{7, 8, 9, 10, 11, 12})});
  gru.save_weights(path);
  const SafetensorsFile file(path);
  const auto is = [&](const char* name, const std::vector<double>& numbers) {
    BOOST_TEST(file.read(name).to_doubles() == numbers, boost::test_tools::per_element());
  };
  is("weight_ih_l0", {2, 1, 3});
  is("weight_hh_l0", {5, 4, 6});
  is("bias_ih_l0", {8, 7, 9});
  is("bias_hh_l0", {11, 10, 12});
}

BOOST_AUTO_TEST_CASE(sequences_of_zero_and_one_step) {
  GRU layer(3, {.return_sequences = true, .return_state = true});
  const Value h = random_tensor({2, 3});
  const Values none = layer(Values{Tensor({2, 0, 4})}, {.initial_state = {h}});
  BOOST_TEST((none[0].shape() == Shape{2, 0, 3}));
  BOOST_TEST(none[1].tensor().equal(h.tensor()));
  GRU last(3, {.name = "last"});
  check_throws<ShapeError>("[GRU \"last\"] a sequence without steps has no last output; got shape (2, 0, 4)", [&] {
    last(Tensor({2, 0, 4}));
  });
  BOOST_TEST((layer(Tensor({0, 5, 4})).shape() == Shape{0, 5, 3}));
  // A mask that is all false keeps the initial state.
  const Values masked =
      layer(Values{random_tensor({2, 5, 4})}, {.initial_state = {h}, .mask = Tensor({2, 5}, DType::boolean)});
  BOOST_TEST(masked[1].tensor().equal(h.tensor()));
}

BOOST_AUTO_TEST_CASE(mistakes_are_errors) {
  check_error("[LSTMCell] units must be at least 1; got 0", [] { LSTM layer(LSTMOptions{}); });
  check_error("[GRUCell] dropout must lie in [0, 1); got 1", [] { GRU layer(2, {.dropout = 1}); });
  check_error("[SimpleRNNCell] recurrent_dropout must lie in [0, 1); got -1",
              [] { SimpleRNN layer(2, {.recurrent_dropout = -1}); });
  check_error("[RNN] cell is required; got none", [] { RNN layer(RNNOptions{}); });
  check_error("[RNN] cell must be an RNNCell, such as LSTMCell(32); got a layer of another class",
              [] { RNN layer(RNNOptions{.cell = Dense(3)}); });
  check_error("[StackedRNNCells] cells must be one or more; got none", [] { StackedRNNCells cells; });
  LSTM layer(2, {.name = "l"});
  check_error(
      "[LSTM \"l\"] input must have rank 3 (batch, steps, features); got shape (2, 3): add a batch axis if this is one "
      "sample",
      [&] {
        layer(Tensor({2, 3}));
      });
  const Tensor x({2, 3, 4});
  check_error("[LSTM \"l\"] initial_state must have 2 arrays; got 1", [&] {
    layer(x, {.initial_state = {Tensor({2, 2})}});
  });
  check_error("[LSTM \"l\"] mask must have shape (2, 3) (batch, steps); got shape (2, 4)", [&] {
    layer(x, {.mask = Tensor({2, 4}, DType::boolean)});
  });
  check_error("initial_state must have shape (2, 2); got (3, 2)", [&] {
    layer(x, {.initial_state = {Tensor({3, 2}), Tensor({3, 2})}});
  });
}

BOOST_AUTO_TEST_SUITE_END()
