// Trainings of functional models whose lengths, heights and widths are open: layers with parts that act in training
// only, and those that compute with sizes.
#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "support/kernels.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const std::vector<Shape> open_lines{{2, 9, 4}, {2, 5, 4}};
const std::vector<Shape> open_pictures{{2, 9, 8, 3}, {2, 6, 11, 3}};
const std::vector<Shape> open_films{{2, 4, 6, 5, 2}, {2, 3, 7, 6, 2}};

/// Checks that a model of a layer predicts what the layer gives directly, and trains, at each of the sizes.
void check_open_training(const Any<Layer>& layer, const Shape& open, const std::vector<Shape>& sizes) {
  BOOST_TEST_CONTEXT(layer->state()->kind << " of " << to_string(open)) {
    try {
      const Input x(open);
      Dense head(2);
      Model model(x, head(layer(x)));
      model.compile({.optimizer = SGD(0.01), .loss = "mse"});
      for (const Shape& shape : sizes) {
        const Tensor given = random_tensor(shape);
        const Tensor wanted = head(layer(Value(given))).tensor();
        // A plan may sum products in another order than calls of single ops: convolutions on machines with AVX2.
        BOOST_TEST(largest_difference(model.predict(given), wanted) <= 1e-6);
        const double loss = model.train_on_batch(given, Tensor(wanted.shape()))["loss"];
        BOOST_TEST(loss >= 0);
      }
    } catch (const Error& error) {
      BOOST_TEST(error.what() == "");
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(open_trainings)

BOOST_AUTO_TEST_CASE(recurrent_layers_with_dropout) {
  for (const bool sequences : {false, true}) {
    for (const double rate : {0.0, 0.3}) {
      const double other = rate > 0 ? 0.0 : 0.2;
      check_open_training(LSTM(3, {.dropout = rate, .recurrent_dropout = other, .return_sequences = sequences}),
                          {-1, 4}, open_lines);
      check_open_training(GRU(3, {.dropout = rate, .recurrent_dropout = other, .return_sequences = sequences}), {-1, 4},
                          open_lines);
      check_open_training(SimpleRNN(3, {.dropout = rate, .recurrent_dropout = other, .return_sequences = sequences}),
                          {-1, 4}, open_lines);
    }
    check_open_training(LSTM(3, {.activation = "gelu", .dropout = 0.2, .return_sequences = sequences}), {-1, 4},
                        open_lines);
    check_open_training(Bidirectional(GRU(3, {.dropout = 0.2, .return_sequences = sequences})), {-1, 4}, open_lines);
    check_open_training(RNN(LSTMCell(3, {.dropout = 0.2}), {.return_sequences = sequences}), {-1, 4}, open_lines);
    check_open_training(RNN({LSTMCell(3, {.recurrent_dropout = 0.2}), GRUCell(2)}, {.return_sequences = sequences}),
                        {-1, 4}, open_lines);
    check_open_training(ConvLSTM1D(2, 3, {.dropout = 0.2, .return_sequences = sequences}), {-1, 5, 2},
                        {{2, 4, 5, 2}, {2, 3, 5, 2}});
    check_open_training(ConvLSTM2D(2, 2, {.recurrent_dropout = 0.2, .return_sequences = sequences}), {-1, 6, 5, 2},
                        {{2, 4, 6, 5, 2}, {2, 3, 6, 5, 2}});
  }
}

BOOST_AUTO_TEST_CASE(recurrent_layers_with_masks) {
  const Input tokens({-1}, {.dtype = "int32"});
  const Value words = Embedding(9, 4, {.mask_zero = true})(tokens);
  const Value read = GRU(3, {.dropout = 0.2, .return_sequences = true})(words);
  Model model(tokens, Dense(2)(LSTM(3, {.dropout = 0.1, .recurrent_dropout = 0.1})(read)));
  model.compile({.optimizer = SGD(0.1), .loss = "mse"});
  for (const std::int64_t length : {7, 4}) {
    const Tensor x = cast(random::uniform(Shape{3, length}, {.minval = 0, .maxval = 9}), DType::int32);
    BOOST_TEST(model.predict(x).shape() == (Shape{3, 2}));
    BOOST_TEST(model.train_on_batch(x, Tensor({3, 2}))["loss"] >= 0);
  }
}

BOOST_AUTO_TEST_CASE(random_layers_on_lines) {
  check_open_training(Dropout(0.3, {.noise_shape = {-1, 1, 4}}), {-1, 4}, open_lines);
  check_open_training(Dropout(0.3, {.seed = 1}), {-1, 4}, open_lines);
  check_open_training(SpatialDropout1D(0.3), {-1, 4}, open_lines);
  check_open_training(GaussianDropout(0.3), {-1, 4}, open_lines);
  check_open_training(GaussianNoise(0.3), {-1, 4}, open_lines);
  check_open_training(AlphaDropout(0.3, {.noise_shape = {-1, -1, 1}}), {-1, 4}, open_lines);
  check_open_training(ActivityRegularization({.l1 = 0.1, .l2 = 0.1}), {-1, 4}, open_lines);
  check_open_training(TimeDistributed(Dropout(0.3)), {-1, 4}, open_lines);
  check_open_training(SpectralNormalization(Dense(3)), {-1, 4}, {{2, 9, 4}});
  check_open_training(SpectralNormalization(Conv2D(3, 2)), {-1, -1, 3}, {{2, 9, 8, 3}});
  check_open_training(TimeDistributed(Sequential({Dense(4), GaussianNoise(0.1)})), {-1, 4}, open_lines);
}

BOOST_AUTO_TEST_CASE(attention_with_dropout) {
  const Input x({-1, 4});
  const Values results{
      MultiHeadAttention(2, 3, {.dropout = 0.2})(x, x),
      GroupedQueryAttention({.head_dim = 2, .num_query_heads = 4, .num_key_value_heads = 2, .dropout = 0.2})(x, x),
      Attention({.dropout = 0.2})(Values{x, x}), AdditiveAttention({.dropout = 0.2})(Values{x, x})};
  for (const Value& result : results) {
    Model model(x, Dense(4)(result));
    model.compile({.optimizer = SGD(0.1), .loss = "mse"});
    for (const Shape& shape : open_lines) {
      BOOST_TEST(model.predict(random_tensor(shape)).shape() == shape);
      BOOST_TEST(model.train_on_batch(random_tensor(shape), Tensor(shape))["loss"] >= 0);
    }
  }
}

BOOST_AUTO_TEST_CASE(layers_on_pictures_and_films) {
  const std::vector<Any<Layer>> layers{SpatialDropout2D(0.3),
                                       RandomFlip(),
                                       RandomZoom(0.1),
                                       RandomRotation(0.1),
                                       RandomTranslation(0.1, 0.1),
                                       RandomContrast(0.1),
                                       RandomBrightness(0.1),
                                       RandomCrop(4, 4),
                                       CenterCrop(4, 4),
                                       Resizing(5, 6),
                                       BatchNormalization(),
                                       GroupNormalization(3),
                                       PReLU({.shared_axes = {1, 2}})};
  for (const Any<Layer>& layer : layers) {
    BOOST_TEST_CONTEXT(layer->state()->kind) {
      const Input x({-1, -1, 3});
      Model model(x, Conv2D(2, 1)(layer(x)));
      model.compile({.optimizer = SGD(0.1), .loss = "mse"});
      for (const Shape& shape : open_pictures) {
        try {
          const Tensor given = random_tensor(shape), y = model.predict(given);
          BOOST_TEST(model.train_on_batch(given, Tensor(y.shape()))["loss"] >= 0);
        } catch (const Error& error) {
          BOOST_TEST(error.what() == "");
        }
      }
    }
  }
  check_open_training(SpatialDropout3D(0.3), {-1, -1, -1, 2}, open_films);
  check_open_training(ConvLSTM2D(2, 3, {.padding = "same", .dropout = 0.2}), {-1, -1, -1, 2}, open_films);
  check_open_training(TimeDistributed(Conv2D(2, 3)), {-1, -1, -1, 2}, open_films);
}

BOOST_AUTO_TEST_SUITE_END()
