#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

#include <mezzo/mezzo.hpp>
#include <mezzo/onnx.hpp>

#include "support/folder.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

void check_equal(const Tensor& y, const Tensor& wanted) {
  BOOST_TEST(y.shape() == wanted.shape());
  const std::vector<double> a = y.to_doubles(), b = wanted.to_doubles();
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) BOOST_TEST(std::abs(a[i] - b[i]) < 1e-5);
}

// Exports the model, imports it, and does both again.
void check_round_trip(Model& model, const Tensor& x) {
  const Folder folder;
  const Tensor wanted = model.predict(x);
  export_onnx(model, folder.path("a.onnx"));
  const Any<Model> once = load_onnx(folder.path("a.onnx"));
  check_equal(once->predict(x), wanted);
  BOOST_TEST(once->trainable_weights().size() >= model.trainable_weights().size());
  export_onnx(*once, folder.path("b.onnx"));
  check_equal(load_onnx(folder.path("b.onnx"))->predict(x), wanted);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(onnx_round_trip)

BOOST_AUTO_TEST_CASE(images) {
  Sequential narrow({Input({12, 12, 3}), Conv2D(4, 3, {.padding = "same"}), BatchNormalization(), ReLU(),
                     MaxPooling2D(2), DepthwiseConv2D(3), Flatten(), Dropout(0.3),
                     Dense(5, {.activation = "softmax"})});
  check_round_trip(narrow, random::uniform({3, 12, 12, 3}).tensor());
  Sequential wide(
      {Input({6, 6, 2}), Conv2DTranspose(3, 3, {.strides = 2, .padding = "same"}), UpSampling2D(2), Conv2D(1, 1)});
  check_round_trip(wide, random::uniform({2, 6, 6, 2}).tensor());
}

BOOST_AUTO_TEST_CASE(sequences) {
  Sequential recurrent({Input({7, 4}), LSTM(6, {.return_sequences = true}), GRU(5), Dense(2)});
  check_round_trip(recurrent, random::uniform({3, 7, 4}).tensor());
  Sequential masked({Input({5, 3}), Masking(), GRU(4, {.return_sequences = true}), LSTM(3)});
  check_round_trip(masked, random::uniform({3, 5, 3}).tensor());
  Sequential hard({Input({5, 3}), LSTM(4, {.activation = "selu", .recurrent_activation = "hard_sigmoid"}), Dense(2)});
  check_round_trip(hard, random::uniform({3, 5, 3}).tensor());
  Sequential gates({Input({5, 3}), LSTM(4, {.recurrent_activation = "hard_sigmoid"})});
  check_round_trip(gates, random::uniform({3, 5, 3}).tensor());
  Sequential text({Input({6}), Embedding(20, 8), LayerNormalization(), GlobalAveragePooling1D(), Dense(3)});
  check_round_trip(text, Tensor({1, 6}, std::vector<float>{1, 2, 3, 4, 5, 6}));
  const Input x({9, 16});
  const Value attended = MultiHeadAttention(2, 8)(x, x);
  const Value y = GroupNormalization({.groups = 4})(attended + x);
  Model attention(x, Dense(3, {.activation = "gelu"})(y));
  check_round_trip(attention, random::uniform({2, 9, 16}).tensor());
}

BOOST_AUTO_TEST_SUITE_END()
