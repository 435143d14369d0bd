// Masks that are all false, and sequences of no step and of one: what Keras gives (tests/parity/edge_inputs.py), or an
// error.
#include <boost/test/unit_test.hpp>

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <map>

#include <mezzo/mezzo.hpp>

#include "support/kernels.hpp"
#include "support/recorded.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const std::vector<std::string> settings{"never",          "one_never", "no_step",
                                        "no_step_masked", "one_step",  "one_step_never"};

const nlohmann::json& entry(const std::string& name) { return recorded("edge_inputs").at(name); }

Tensor array_at(const nlohmann::json& index) {
  return recorded_tensor(recorded("edge_inputs").at("arrays").at(index.get<std::size_t>()));
}

/// Where Keras fails, or gives numbers that are not finite: the error here, or "" if there is a result.
using Ours = std::map<std::string, std::string>;

/// Compares a call in float64 with that of Keras.
void check(const std::string& name, const std::function<Any<Layer>()>& make, const Ours& ours = {}) {
  const nlohmann::json& expected = entry(name);
  BOOST_TEST_CONTEXT(name) {
    const detail::PolicyScope policy{Policy(DType::float64)};
    const Any<Layer> layer = make();
    Values xs, built;
    std::vector<Tensor> weights;
    for (std::size_t i = 0; i < expected.at("inputs").size(); ++i) {
      const Tensor x = array_at(expected.at("inputs")[i]);
      const nlohmann::json& mask = expected.at("masks")[i];
      xs.push_back(mask.is_null() ? Value(x) : Value(x).with_mask(array_at(mask).cast(DType::boolean)));
      Shape shape = x.shape();
      shape[1] = 2;
      built.push_back(Tensor(shape, DType::float64));
    }
    layer(built);
    auto* heads = dynamic_cast<detail::HeadAttention*>(&*layer);
    auto* attention = dynamic_cast<Attention*>(&*layer);
    const auto call = [&]() -> Values {
      if (heads == nullptr && attention == nullptr) return layer(xs);
      const AttentionResult result = heads ? heads->with_scores(xs[0], xs[1]) : attention->with_scores(xs);
      // The layer that doesn't return them computes the same in another way.
      BOOST_TEST(largest_difference(layer(xs).front().tensor(), result.output.tensor()) <= 1e-6);
      return {result.output, result.scores};
    };
    for (const auto& weight : expected.at("weights")) weights.push_back(array_at(weight));
    layer->set_weights(weights);
    Values out;
    std::string error;
    try {
      out = call();
    } catch (const Error& thrown) {
      error = thrown.what();
    }
    const auto known = ours.find(name);
    BOOST_TEST(error == (known == ours.end() ? "" : known->second));
    if (!error.empty()) return;
    for (const Value& y : out) {
      for (const double number : y.tensor().to_doubles()) BOOST_TEST(std::isfinite(number));
    }
    if (!expected.contains("outputs")) {
      BOOST_TEST((known != ours.end()), "Keras has no result");
      return;
    }
    BOOST_TEST_REQUIRE(out.size() == expected.at("outputs").size());
    for (std::size_t i = 0; i < out.size(); ++i) {
      const Tensor wanted = array_at(expected.at("outputs")[i]);
      BOOST_TEST(out[i].shape() == wanted.shape());
      BOOST_TEST(largest_difference(out[i].tensor(), wanted) <= (attention ? 1e-6 : 1e-11));  // Keras subtracts 1e9
    }
    const nlohmann::json& mask = expected.at("mask");
    BOOST_TEST(out[0].mask().defined() == !mask.is_null());
    if (out[0].mask().defined() && !mask.is_null()) {
      BOOST_TEST(out[0].mask().tensor().equal(array_at(mask).cast(DType::boolean)));
    }
  }
}

void check_all(const std::string& name, const std::function<Any<Layer>()>& make, const Ours& ours = {}) {
  for (const std::string& setting : settings) check(name + "_" + setting, make, ours);
}

/// Results for no step with return_sequences, where Keras fails; without, an error.
Ours no_step_of(const std::string& name, const std::string& error) {
  return {{name + "_no_step", error},
          {name + "_no_step_masked", error},
          {name + "_sequences_no_step", ""},
          {name + "_sequences_no_step_masked", ""}};
}

/// A recurrent layer with and without return_sequences, by the options struct of the class.
template <class L, class Options>
void check_recurrent(const std::string& name, Options options, Ours ours) {
  check_all(
      name, [&] { return L(options); }, ours);
  options.return_sequences = true;
  check_all(
      name + "_sequences", [&] { return L(options); }, ours);
  options.zero_output_for_mask = options.return_state = true;
  if (recorded("edge_inputs").contains(name + "_zeroes_one_never")) {
    check(name + "_zeroes_one_never", [&] { return L(options); });
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(edge_inputs)

BOOST_AUTO_TEST_CASE(recurrent_layers) {
  const auto error = [](const char* layer, const char* shape) {
    return fmt::format("[{}] a sequence without steps has no last output; got shape {}", layer, shape);
  };
  const auto ours = [&](const char* name, const char* layer) { return no_step_of(name, error(layer, "(2, 0, 4)")); };
  check_recurrent<SimpleRNN>("simple_rnn", SimpleRNNOptions{.units = 2}, ours("simple_rnn", "SimpleRNN"));
  check_recurrent<LSTM>("lstm", LSTMOptions{.units = 2}, ours("lstm", "LSTM"));
  check_recurrent<GRU>("gru", GRUOptions{.units = 2}, ours("gru", "GRU"));
  check_recurrent<RNN>("rnn", RNNOptions{.cell = StackedRNNCells({LSTMCell(2), GRUCell(3)})}, ours("rnn", "RNN"));
  const Ours both = ours("bidirectional", "GRU \"forward_gru\"");
  check_all(
      "bidirectional", [] { return Bidirectional(GRU(2)); }, both);
  check_all(
      "bidirectional_sequences", [] { return Bidirectional(GRU(2, {.return_sequences = true})); }, both);
  // Keras takes no mask there.
  Ours conv = no_step_of("conv_lstm1d", error("ConvLSTM1D", "(2, 0, 4, 3)"));
  for (const char* setting : {"never", "one_never", "one_step_never"}) {
    conv[std::string("conv_lstm1d_") + setting] = conv[std::string("conv_lstm1d_sequences_") + setting] = "";
  }
  check_recurrent<ConvLSTM1D>("conv_lstm1d", ConvLSTMOptions{.filters = 2, .kernel_size = 2}, conv);
  check_all("time_distributed", [] { return TimeDistributed(Dense(2)); },
            {{"time_distributed_no_step", ""}, {"time_distributed_no_step_masked", ""}});
}

BOOST_AUTO_TEST_CASE(pooling_and_softmax) {
  // NaN in Keras.
  const std::string average = "global_average_pooling1d_", most = "global_max_pooling1d_";
  check_all(
      "global_average_pooling1d", [] { return GlobalAveragePooling1D(); },
      {{average + "never", ""},
       {average + "one_never", ""},
       {average + "no_step", "[GlobalAveragePooling1D] a sequence without steps has no mean; got shape (2, 0, 4)"},
       {average + "no_step_masked", ""},
       {average + "one_step_never", ""}});
  const std::string error = "[GlobalMaxPooling1D] needs an element along axes (1,); got shape (2, 0, 4)";
  check_all("global_max_pooling1d", [] { return GlobalMaxPooling1D(); },
            {{most + "no_step", error}, {most + "no_step_masked", error}});
  check_all("softmax", [] { return Softmax(); });
  check_all("softmax_steps", [] { return Softmax({.axis = 1}); });
}

BOOST_AUTO_TEST_CASE(attention) {
  for (const char* side : {"keys_", "queries_"}) {
    for (const std::string& setting : settings) {
      check("attention_" + (side + setting), [] { return Attention(); });
      check("additive_attention_" + (side + setting), [] { return AdditiveAttention(); });
      check("heads_" + (side + setting), [] { return MultiHeadAttention(2, 3); });
      check("groups_" + (side + setting),
            [] { return GroupedQueryAttention({.head_dim = 3, .num_query_heads = 4, .num_key_value_heads = 2}); });
    }
  }
}

BOOST_AUTO_TEST_CASE(losses_and_metrics) {
  const detail::PolicyScope policy{Policy(DType::float64)};
  const Tensor y_true = array_at(entry("data").at("y_true")), y_pred = array_at(entry("data").at("y_pred"));
  const auto check_number = [](const std::string& name, const Value& got) {
    const Tensor wanted = array_at(entry(name).at("outputs")[0]);
    BOOST_TEST(got.shape() == wanted.shape(), name);
    BOOST_TEST(largest_difference(got.tensor().cast(DType::float64), wanted) <= 1e-6, name);
  };
  const auto masked = [&](std::vector<double> mask) {
    return Value(y_pred).with_mask(Tensor({2}, mask).cast(DType::boolean));
  };
  const Value never = masked({0, 0}), one_never = masked({0, 1});
  const std::map<std::string, std::string> reductions{
      {"sum_over_batch_size", "mean"}, {"sum", "sum"}, {"mean_with_sample_weight", "mean_with_sample_weight"}};
  for (const auto& [keras, ours] : reductions) {
    const MeanSquaredError loss({.reduction = ours});
    check_number("loss_never_" + keras, loss(y_true, never));
    check_number("loss_one_never_" + keras, loss(y_true, one_never));
  }
  const Value labels = round(y_true);
  const auto check_metric = [&](const std::string& name, const Any<Metric>& metric) {
    check_number("metric_" + name + "_new", metric->result());
    metric->update_state(labels, never);
    check_number("metric_" + name + "_never", metric->result());
  };
  check_metric("mse", metrics::MeanSquaredError());
  check_metric("accuracy", metrics::BinaryAccuracy());
  check_metric("auc", metrics::AUC());
  check_metric("precision", metrics::Precision());
}

BOOST_AUTO_TEST_SUITE_END()
