// Model files of recurrent layers and of layers that hold others.
#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "support/refused.hpp"
#include "support/throws.hpp"
#include "training/saving/round_trip.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct LeakyCellOptions {
  std::int64_t units = 0;
  double leak = 0.5;
  std::string name{};
  Policy dtype{};
};
void describe(Fields& fields, LeakyCellOptions& options) {
  fields("units", options.units);
  fields("leak", options.leak);
}

/// A cell of a program.
class LeakyCell : public RNNCell {
 public:
  explicit LeakyCell(const LeakyCellOptions& options)
      : RNNCell("LeakyCell", options), options_(options), project_(sub("project", Dense(options.units))) {}
  Shape state_size() const override { return {options_.units}; }
  std::int64_t output_size() const override { return options_.units; }

 protected:
  Values call_many(const Values& xs) override {
    const Value state = xs[1] * options_.leak + tanh(project_(xs[0]));
    return {state, state};
  }

 private:
  LeakyCellOptions options_;
  Dense project_;
};

/// The same, and nobody registers it.
class UnknownCell : public LeakyCell {
 public:
  using LeakyCell::LeakyCell;
};

/// A model of one layer that takes samples of that shape, through a file.
Any<Model> check(const Any<Layer>& layer, const Shape& sample) {
  Sequential model({Input({.shape = sample}), layer});
  Shape batch = sample;
  batch.insert(batch.begin(), 2);
  Any<Model> loaded = round_trip(model, numbers(batch));
  const auto before = model.named_weights(), after = loaded->named_weights();
  BOOST_TEST_REQUIRE(before.size() == after.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    BOOST_TEST(before[i].first == after[i].first);
    BOOST_TEST(before[i].second.value().equal(after[i].second.value()), before[i].first);
  }
  BOOST_TEST(model.trainable_weights().size() == loaded->trainable_weights().size());
  return loaded;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(saved_recurrent_layers)

BOOST_AUTO_TEST_CASE(cells) {
  check(RNN(GRUCell(3, {.name = "inner"}), {.return_sequences = true, .go_backwards = true, .name = "outer"}), {5, 4});
  check(RNN({LSTMCell(5), LSTMCell(5), GRUCell(3, {.reset_after = false})}), {5, 4});
  check(RNN(StackedRNNCells({StackedRNNCells({SimpleRNNCell(2), LSTMCell(3)}), GRUCell(4)}, {.name = "stack"})),
        {5, 4});

  Input x({5, 4});
  RNN layer({LSTMCell(3), GRUCell(2)}, {.return_state = true});
  const Values all = layer(Values{x});
  Model states(x, all);
  BOOST_TEST(round_trip(states, numbers({2, 5, 4}))->outputs().size() == 4U);
}

BOOST_AUTO_TEST_CASE(bidirectional) {
  for (const char* mode : {"concat", "sum", "mul", "ave"}) {
    check(Bidirectional(LSTM(3, {.return_sequences = true}), {.merge_mode = mode, .name = "both"}), {5, 4});
  }
  check(Bidirectional(LSTM(3, {.name = "inner"})), {5, 4});
  check(Bidirectional(GRU(3, {.go_backwards = true})), {5, 4});
  check(Bidirectional(SimpleRNN(3), {.backward_layer = GRU(3, {.go_backwards = true})}), {5, 4});
  check(Bidirectional(SimpleRNN(3), {.backward_layer = GRU(3, {.go_backwards = true, .name = "other"})}), {5, 4});
  check(Bidirectional(RNN({LSTMCell(3), GRUCell(2)}, {.return_sequences = true})), {5, 4});
  const Any<Layer> handle = LSTM(3);
  check(Bidirectional({.layer = handle, .merge_mode = "sum"}), {5, 4});

  Input x({5, 4});
  Bidirectional both(GRU(3, {.return_sequences = true}), {.merge_mode = "none"});
  const Values two = both(Values{x});
  Model model(x, two);
  BOOST_TEST(round_trip(model, numbers({2, 5, 4}))->outputs().size() == 2U);
}

BOOST_AUTO_TEST_CASE(layers_for_each_step) {
  check(TimeDistributed(Dense(3, {.activation = "tanh"})), {5, 4});
  check(TimeDistributed(Conv2D(2, 3, {.name = "images"}), {.name = "each"}), {3, 6, 5, 2});
  check(TimeDistributed(Sequential({Dense(3), BatchNormalization(), Dense(2)})), {5, 4});
  check(TimeDistributed(Bidirectional(LSTM(2))), {3, 5, 4});
}

BOOST_AUTO_TEST_CASE(convolutional) {
  check(ConvLSTM1D(3, 2, {.strides = 2, .padding = "same", .recurrent_activation = "hard_sigmoid"}), {4, 6, 2});
  check(ConvLSTM2D(2, {3, 2}, {.dilation_rate = {1, 2}, .use_bias = false, .return_sequences = true}), {3, 6, 5, 2});
  check(ConvLSTM3D(2, 2, {.unit_forget_bias = false, .go_backwards = true}), {3, 4, 3, 3, 2});
}

BOOST_AUTO_TEST_CASE(frozen_parts) {
  const auto trainable = [](const Any<Layer>& layer) { return check(layer, {5, 4})->trainable_weights().size(); };
  BOOST_TEST(trainable(Bidirectional(LSTM(3, {.trainable = false}))) == 0U);
  BOOST_TEST(
      trainable(Bidirectional(LSTM(3), {.backward_layer = LSTM(3, {.go_backwards = true, .trainable = false})})) == 3U);
  BOOST_TEST(trainable(Bidirectional(LSTM(3, {.trainable = false}),
                                     {.backward_layer = LSTM(3, {.go_backwards = true})})) == 3U);
  BOOST_TEST(trainable(RNN({LSTMCell(3, {.trainable = false}), GRUCell(2)})) == 3U);
  BOOST_TEST(trainable(TimeDistributed(Dense(3, {.trainable = false}))) == 0U);

  // Frozen later, with all below; a part is made trainable again.
  Bidirectional both(LSTM(3));
  both.set_trainable(false);
  both.state()->trainable = true;
  BOOST_TEST(trainable(both) == 0U);
}

BOOST_AUTO_TEST_CASE(training_continues) {
  const Tensor x = numbers({12, 5, 4}), y = numbers({12, 1}, 3);
  const auto trained = [&](bool interrupted) {
    seed_everything(3);
    Sequential model({Input({5, 4}), Bidirectional(LSTM(3, {.dropout = 0.25, .return_sequences = true})),
                      TimeDistributed(Dense(3)), RNN({GRUCell(4), SimpleRNNCell(2)}), Dense(1)});
    model.compile({.optimizer = Adam(1e-2), .loss = "mse"});
    model.fit(x, y, {.batch_size = 4, .epochs = 1, .verbose = 0});
    const Folder folder;
    model.save(folder.path("a"));
    const Any<Model> rest = interrupted ? load_model(folder.path("a")) : Any<Model>(model);
    rest->fit(x, y, {.batch_size = 4, .epochs = 1, .verbose = 0});
    return rest->predict(x);
  };
  BOOST_TEST(trained(false).equal(trained(true)));
}

BOOST_AUTO_TEST_CASE(cells_of_the_user) {
  register_layer<LeakyCell, LeakyCellOptions>("test>LeakyCell");
  check(RNN(LeakyCell({.units = 3, .leak = 0.25})), {5, 4});
  check(RNN({LeakyCell({.units = 3}), LSTMCell(2)}, {.return_sequences = true}), {5, 4});
  const auto text = [](const Any<Layer>& layer) {
    const Sequential model({Input({5, 4}), layer});
    return refused<ValueError>([&] { model.to_json(); });
  };
  const std::string unknown =
      "[LeakyCell] the class of this layer is not known; register it by register_layer<LeakyCell, "
      "...>(\"my>LeakyCell\") before saving";
  BOOST_TEST(text(RNN(UnknownCell({.units = 3}))) == unknown);
  BOOST_TEST(text(RNN({LSTMCell(2), UnknownCell({.units = 3})})) == unknown);
  BOOST_TEST(text(Bidirectional(RNN(UnknownCell({.units = 3})))) == unknown);
  const Any<Layer> cell = LSTMCell(4);
  BOOST_TEST(text(RNN({cell, cell})) == "[StackedRNNCells] cells a layer that occurs twice can't be saved; got one");
}

BOOST_AUTO_TEST_CASE(other_classes_of_layers) {
  check_throws<ValueError>(
      "[Bidirectional] layer must be a recurrent layer, such as LSTM(32); got a layer of another class",
      [] { Bidirectional wrong({.layer = Dense(3)}); });
  check_throws<ValueError>(
      "[Bidirectional] backward_layer must be a recurrent layer, such as LSTM(32); got a layer of another class",
      [] { Bidirectional wrong(LSTM(3), {.backward_layer = Dense(3)}); });
  check_throws<ValueError>("[Bidirectional] layer must be one that was never called, to be copied; got one that was",
                           [] {
                             LSTM layer(3);
                             layer(Tensor({1, 2, 3}));
                             Bidirectional wrong(layer);
                           });
}

BOOST_AUTO_TEST_SUITE_END()
