// Functional models of Inputs whose sizes are open, Input({-1, 64}): shapes of symbols, values and training steps at
// several sizes, files.
#include <boost/test/unit_test.hpp>

#include <functional>

#include <mezzo/mezzo.hpp>

#include "support/folder.hpp"
#include "support/kernels.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Checks the shape of the symbol, and that the model gives what the layer gives directly at each of the sizes.
void check(const Any<Layer>& layer, const Shape& open, const Shape& symbol, const std::vector<Shape>& sizes) {
  BOOST_TEST_CONTEXT(layer->state()->kind) {
    const Input x(open);
    Value y;
    try {
      y = layer(x);
    } catch (const Error& error) {
      BOOST_TEST(error.what() == "");
      return;
    }
    BOOST_TEST(y.shape() == symbol, to_string(y.shape()));
    Model model(Values{x}, Values{y});
    for (const Shape& shape : sizes) {
      BOOST_TEST_CONTEXT(to_string(shape)) {
        const Tensor given = random_tensor(shape);
        try {
          BOOST_TEST(model(Value(given)).tensor().equal(layer(Value(given)).tensor()));
          BOOST_TEST(model.predict(given).shape() == layer(Value(given)).shape());
        } catch (const Error& error) {
          BOOST_TEST(error.what() == "");
        }
      }
    }
  }
}

const std::vector<Shape> lines{{2, 9, 4}, {2, 5, 4}, {1, 16, 4}};
const std::vector<Shape> pictures{{2, 9, 8, 4}, {1, 6, 11, 4}};
const std::vector<Shape> volumes{{2, 6, 5, 4, 4}, {1, 4, 4, 7, 4}};

Tensor labels(std::int64_t count) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < count; ++i) out.push_back(i % 3);
  return Tensor({count}, out);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(open_sizes)

BOOST_AUTO_TEST_CASE(convolutions) {
  for (const char* padding : {"valid", "same", "causal"}) {
    check(Conv1D(3, 3, {.padding = padding}), {-1, 4}, {-1, -1, 3}, lines);
    check(Conv1D(3, 3, {.strides = 2, .padding = padding}), {-1, 4}, {-1, -1, 3}, lines);
    check(Conv1D(3, 2, {.padding = padding, .dilation_rate = 2}), {-1, 4}, {-1, -1, 3}, lines);
  }
  for (const char* padding : {"valid", "same"}) {
    for (const std::int64_t strides : {1, 2}) {
      check(Conv2D(3, 3, {.strides = strides, .padding = padding}), {-1, -1, 4}, {-1, -1, -1, 3}, pictures);
      check(Conv2D(3, 3, {.strides = strides, .padding = padding}), {-1, 8, 4},
            {-1, -1, padding[0] == 'v' ? (8 - 3) / strides + 1 : 8 / strides, 3}, {{2, 9, 8, 4}, {1, 4, 8, 4}});
      check(Conv3D(3, 3, {.strides = strides, .padding = padding}), {-1, -1, -1, 4}, {-1, -1, -1, -1, 3}, volumes);
      check(Conv1DTranspose(3, 3, {.strides = strides, .padding = padding}), {-1, 4}, {-1, -1, 3}, lines);
      check(Conv2DTranspose(3, 3, {.strides = strides, .padding = padding}), {-1, -1, 4}, {-1, -1, -1, 3}, pictures);
      check(Conv3DTranspose(3, 3, {.strides = strides, .padding = padding}), {-1, -1, -1, 4}, {-1, -1, -1, -1, 3},
            volumes);
      check(DepthwiseConv1D(3, {.strides = strides, .padding = padding}), {-1, 4}, {-1, -1, 4}, lines);
      check(DepthwiseConv2D(3, {.strides = strides, .padding = padding}), {-1, -1, 4}, {-1, -1, -1, 4}, pictures);
      check(SeparableConv1D(5, 3, {.strides = strides, .padding = padding}), {-1, 4}, {-1, -1, 5}, lines);
      check(SeparableConv2D(5, 3, {.strides = strides, .padding = padding}), {-1, -1, 4}, {-1, -1, -1, 5}, pictures);
    }
  }
  check(Conv2D(3, 3, {.padding = {1, 0}}), {-1, -1, 4}, {-1, -1, -1, 3}, pictures);
  check(Conv1D(2, 1000, {.padding = "same"}), {-1, 4}, {-1, -1, 2}, {{1, 9, 4}});  // a window larger than a trial
  check(Conv1D(2, 1000), {-1, 4}, {-1, -1, 2}, {{1, 1001, 4}});
}

BOOST_AUTO_TEST_CASE(poolings) {
  for (const char* padding : {"valid", "same"}) {
    check(MaxPooling1D(2, {.padding = padding}), {-1, 4}, {-1, -1, 4}, lines);
    check(AveragePooling1D(3, {.strides = 2, .padding = padding}), {-1, 4}, {-1, -1, 4}, lines);
    check(MaxPooling2D(2, {.padding = padding}), {-1, -1, 4}, {-1, -1, -1, 4}, pictures);
    check(AveragePooling2D(3, {.strides = 2, .padding = padding}), {-1, -1, 4}, {-1, -1, -1, 4}, pictures);
    check(MaxPooling3D(2, {.padding = padding}), {-1, -1, -1, 4}, {-1, -1, -1, -1, 4}, volumes);
    check(AveragePooling3D(2, {.padding = padding}), {-1, -1, -1, 4}, {-1, -1, -1, -1, 4}, volumes);
  }
  check(GlobalAveragePooling1D(), {-1, 4}, {-1, 4}, lines);
  check(GlobalMaxPooling1D({.keepdims = true}), {-1, 4}, {-1, 1, 4}, lines);
  check(GlobalAveragePooling2D(), {-1, -1, 4}, {-1, 4}, pictures);
  check(GlobalMaxPooling2D(), {-1, -1, 4}, {-1, 4}, pictures);
  check(GlobalAveragePooling3D(), {-1, -1, -1, 4}, {-1, 4}, volumes);
  check(GlobalMaxPooling3D(), {-1, -1, -1, 4}, {-1, 4}, volumes);
  check(AdaptiveAveragePooling1D(3), {-1, 4}, {-1, 3, 4}, lines);
  check(AdaptiveMaxPooling2D(2), {-1, -1, 4}, {-1, 2, 2, 4}, pictures);
  check(AdaptiveAveragePooling3D(2), {-1, -1, -1, 4}, {-1, 2, 2, 2, 4}, volumes);
}

BOOST_AUTO_TEST_CASE(sizes_that_layers_change) {
  check(UpSampling1D(2), {-1, 4}, {-1, -1, 4}, lines);
  check(UpSampling2D(2), {-1, -1, 4}, {-1, -1, -1, 4}, pictures);
  check(UpSampling2D(2, {.interpolation = "bilinear"}), {-1, -1, 4}, {-1, -1, -1, 4}, pictures);
  check(UpSampling3D(2), {-1, -1, -1, 4}, {-1, -1, -1, -1, 4}, volumes);
  check(ZeroPadding1D(2), {-1, 4}, {-1, -1, 4}, lines);
  check(ZeroPadding2D(1), {-1, -1, 4}, {-1, -1, -1, 4}, pictures);
  check(ZeroPadding3D(1), {-1, -1, -1, 4}, {-1, -1, -1, -1, 4}, volumes);
  check(Cropping1D(1), {-1, 4}, {-1, -1, 4}, lines);
  check(Cropping2D(1), {-1, -1, 4}, {-1, -1, -1, 4}, pictures);
  check(Cropping3D(1), {-1, -1, -1, 4}, {-1, -1, -1, -1, 4}, volumes);
  check(Resizing(5, 6), {-1, -1, 4}, {-1, 5, 6, 4}, pictures);
  check(CenterCrop(7, 6), {-1, -1, 4}, {-1, 7, 6, 4}, pictures);
  check(Flatten(), {-1, 4}, {-1, -1}, lines);
  check(Reshape({-1, 2}), {-1, 4}, {-1, -1, 2}, lines);
  check(Reshape({-1, 16}), {-1, 8}, {-1, -1, 16}, {{2, 6, 8}, {3, 2, 8}});
  check(Permute({2, 1}), {-1, 4}, {-1, 4, -1}, lines);
}

BOOST_AUTO_TEST_CASE(sequences) {
  check(LSTM(3), {-1, 4}, {-1, 3}, lines);
  check(GRU(3, {.return_sequences = true}), {-1, 4}, {-1, -1, 3}, lines);
  check(GRU(3, {.go_backwards = true}), {-1, 4}, {-1, 3}, lines);
  check(SimpleRNN(3), {-1, 4}, {-1, 3}, lines);
  check(RNN(StackedRNNCells({LSTMCell(3), GRUCell(2)})), {-1, 4}, {-1, 2}, lines);
  check(Bidirectional(LSTM(3, {.return_sequences = true})), {-1, 4}, {-1, -1, 6}, lines);
  check(Bidirectional(GRU(3), {.merge_mode = "sum"}), {-1, 4}, {-1, 3}, lines);
  check(TimeDistributed(Dense(3)), {-1, 4}, {-1, -1, 3}, lines);
  check(TimeDistributed(Conv2D(3, 3)), {-1, 8, 8, 4}, {-1, -1, 6, 6, 3}, {{2, 3, 8, 8, 4}, {1, 2, 8, 8, 4}});
  check(TimeDistributed(GlobalAveragePooling2D()), {-1, -1, -1, 4}, {-1, -1, 4}, {{2, 3, 5, 8, 4}, {1, 2, 8, 6, 4}});
  check(SinePositionEncoding(), {-1, 4}, {-1, -1, 4}, lines);
  check(PositionEmbedding(20), {-1, 4}, {-1, -1, 4}, lines);
  check(RotaryEmbedding(), {-1, 4}, {-1, -1, 4}, lines);
}

// Attention of a layer that pads with masks and of another length, as of fixed sizes.
BOOST_AUTO_TEST_CASE(attention) {
  const auto heads = [] {
    return GroupedQueryAttention({.head_dim = 3, .num_query_heads = 4, .num_key_value_heads = 2});
  };
  const Shape open{-1, 4}, symbol{-1, -1, 4};
  const std::vector<std::function<Any<Layer>()>> makers{
      [] { return Attention({.use_scale = true}); },
      [] { return Attention({.score_mode = "concat"}); },
      [] { return AdditiveAttention(); },
      [] { return AdditiveAttention({.use_scale = false}); },
      [] { return MultiHeadAttention(2, 3); },
      [] { return MultiHeadAttention(2, 3, {.sliding_window = 2, .use_gate = true}); },
      [&] { return heads(); },
      [] {
        return GroupedQueryAttention({.head_dim = 3,
                                      .num_query_heads = 2,
                                      .num_key_value_heads = 2,
                                      .sliding_window = 2,
                                      .flash_attention = false,
                                      .use_gate = true});
      }};
  for (const auto& make : makers) {
    const Any<Layer> layer = make();
    BOOST_TEST_CONTEXT(layer->state()->kind) {
      // Words with a mask are the keys; the queries have another length.
      Embedding embedding(9, 4, {.mask_zero = true});
      const Input words({-1}, {.dtype = "int32"}), queries(open);
      const Value keys = embedding(words), y = layer(Values{queries, keys}).front();
      BOOST_TEST(y.shape() == symbol);
      Model model(Values{queries, words}, y), own(words, layer(Values{keys, keys}).front());
      for (const Shape& sizes : {Shape{2, 5, 7}, Shape{1, 8, 3}, Shape{2, 5, 7}}) {
        const Tensor query = random_tensor({sizes[0], sizes[1], 4});
        Tensor ids({sizes[0], sizes[2]}, DType::int32);
        for (std::int64_t i = 0; i < ids.size(); ++i) ids.mutable_data<std::int32_t>()[i] = (i * 5 + 1) % 4;
        const Value direct = embedding(ids);
        const Tensor expected = layer(Values{query, direct}).front().tensor();
        BOOST_TEST(largest_difference(model.predict({query, ids}), expected) <= 1e-6);
        BOOST_TEST(largest_difference(own.predict(ids), layer(Values{direct, direct}).front().tensor()) <= 1e-6);
      }
    }
  }
  // Causal, and with the scores.
  const Input x(open);
  GroupedQueryAttention grouped = heads();
  AdditiveAttention additive;
  const auto [output, scores] = grouped.with_scores(x, x, {.use_causal_mask = true});
  BOOST_TEST(scores.shape() == (Shape{-1, 4, -1, -1}));
  Model model(Values{x}, Values{output, scores, additive({x, x}, {.use_causal_mask = true})});
  for (const Shape& shape : lines) {
    const Value given = random_tensor(shape);
    const Values got = model(Values{given});
    const auto [wanted, wanted_scores] = grouped.with_scores(given, given, {.use_causal_mask = true});
    BOOST_TEST(largest_difference(got[0].tensor(), wanted.tensor()) <= 1e-6);
    BOOST_TEST(largest_difference(got[1].tensor(), wanted_scores.tensor()) <= 1e-6);
    const Value third = additive({given, given}, {.use_causal_mask = true});
    BOOST_TEST(largest_difference(got[2].tensor(), third.tensor()) <= 1e-6);
  }
}

// Masks in front of layers that use them, and gradients of a step, at two lengths.
BOOST_AUTO_TEST_CASE(masked_sequences) {
  const Input words({-1}, {.dtype = "int32"});
  Embedding embedding(9, 4, {.mask_zero = true});
  AdditiveAttention additive;
  GroupedQueryAttention grouped({.head_dim = 3, .num_query_heads = 4, .num_key_value_heads = 2});
  Dense last(3);
  const auto run = [&](const Value& ids) {
    const Value x = embedding(ids);
    return last(GlobalAveragePooling1D()(layers::add({additive({x, x}), grouped(x, x)})));
  };
  Model model(words, run(words));
  model.compile({.optimizer = SGD(0.1), .loss = SparseCategoricalCrossentropy({.from_logits = true})});
  for (const std::int64_t length : {7, 4, 7}) {
    Tensor ids({4, length}, DType::int32);
    for (std::int64_t i = 0; i < ids.size(); ++i) ids.mutable_data<std::int32_t>()[i] = (i * 5 + 1) % 4;
    const Value y = run(ids);
    BOOST_TEST(largest_difference(model.predict(ids), y.tensor()) <= 1e-6);
    const double loss = SparseCategoricalCrossentropy({.from_logits = true})(labels(4), y).item();
    BOOST_TEST(model.train_on_batch(ids, labels(4))["loss"] == loss, boost::test_tools::tolerance(1e-5));
  }
}

BOOST_AUTO_TEST_CASE(elementwise) {
  check(Dense(3), {-1, 4}, {-1, -1, 3}, lines);
  check(EinsumDense("abc,cd->abd", detail::Ints{-1, 3}, {.bias_axes = "d"}), {-1, 4}, {-1, -1, 3}, lines);
  check(BatchNormalization(), {-1, -1, 4}, {-1, -1, -1, 4}, pictures);
  check(LayerNormalization(), {-1, 4}, {-1, -1, 4}, lines);
  check(GroupNormalization({.groups = 2}), {-1, -1, 4}, {-1, -1, -1, 4}, pictures);
  check(RMSNormalization(), {-1, 4}, {-1, -1, 4}, lines);
  check(UnitNormalization(), {-1, 4}, {-1, -1, 4}, lines);
  check(Softmax(), {-1, 4}, {-1, -1, 4}, lines);
  check(Softmax({.axis = 1}), {-1, 4}, {-1, -1, 4}, lines);
  check(Dropout(0.5), {-1, 4}, {-1, -1, 4}, lines);
  check(SpatialDropout1D(0.5), {-1, 4}, {-1, -1, 4}, lines);
  check(PReLU({.shared_axes = {1}}), {-1, 4}, {-1, -1, 4}, lines);
}

// A fully convolutional network and a recurrent one: steps at two sizes equal those of a Sequential that computes
// directly; files and clones keep the open sizes.
BOOST_AUTO_TEST_CASE(models_train_at_several_sizes) {
  struct Setting {
    Shape open;
    std::vector<Shape> sizes;
    std::function<Sequential()> make;
  };
  const std::vector<Setting> settings{
      {{-1, -1, 2},
       {{4, 9, 8, 2}, {4, 6, 12, 2}, {4, 9, 8, 2}},
       [] {
         return Sequential({Conv2D(4, 3, {.padding = "same", .activation = "relu"}), BatchNormalization(),
                            MaxPooling2D(2), Conv2D(3, 3, {.strides = 2, .padding = "same"}), UpSampling2D(2),
                            ZeroPadding2D(1), GlobalAveragePooling2D(), Dense(3)});
       }},
      {{-1, 2}, {{4, 9, 2}, {4, 5, 2}, {4, 9, 2}}, [] {
         return Sequential({Conv1D(4, 3, {.padding = "causal"}), LSTM(3, {.return_sequences = true}),
                            LayerNormalization(), GRU(4), Dense(3)});
       }}};
  for (const Setting& setting : settings) {
    const auto compile = [](Model& one) {
      one.compile({.optimizer = Adam(0.01), .loss = SparseCategoricalCrossentropy({.from_logits = true})});
    };
    Sequential direct = setting.make();
    direct.predict(random_tensor(setting.sizes[0]));
    Sequential layers = clone(direct);
    const Input x(setting.open);
    Value y = x;
    for (const Any<Layer>& layer : layers.layers()) y = layer(y);
    Model model(x, y);
    BOOST_TEST(y.shape() == (Shape{-1, 3}));
    compile(direct);
    compile(model);
    for (const Shape& shape : setting.sizes) {
      const Tensor batch = random_tensor(shape);
      const double expected = direct.train_on_batch(batch, labels(4))["loss"];
      BOOST_TEST(model.train_on_batch(batch, labels(4))["loss"] == expected, boost::test_tools::tolerance(1e-5));
    }
    const Folder folder;
    model.save(folder.path("model.mezzo"));
    Any<Model> loaded = load_model(folder.path("model.mezzo"));
    Model copy = clone(model);
    const std::string table = model.summary_text();
    BOOST_TEST(table.find(setting.open.size() == 2 ? "(?, ?, 4)" : "(?, ?, ?, 4)") != std::string::npos, table);
    for (const Shape& shape : setting.sizes) {
      const Tensor batch = random_tensor(shape), expected = direct.predict(batch);
      BOOST_TEST(largest_difference(model.predict(batch), expected) <= 1e-5);
      BOOST_TEST(loaded->predict(batch).equal(model.predict(batch)));
      BOOST_TEST(copy.predict(batch).equal(model.predict(batch)));
    }
  }
}

// A model inside another one, which knows more sizes.
BOOST_AUTO_TEST_CASE(nested_models) {
  const Input inner({-1, 4});
  Model encoder(inner, Conv1D(3, 3)(inner));
  const Input outer({6, 4});
  const Value encoded = encoder(outer);
  BOOST_TEST(encoded.shape() == (Shape{-1, 4, 3}));
  Model model(outer, Dense(2)(Flatten()(encoded)));
  const Tensor x = random_tensor({2, 6, 4});
  BOOST_TEST(model.predict(x).shape() == (Shape{2, 2}));
}

BOOST_AUTO_TEST_CASE(low_precision) {
  const detail::PolicyScope policy{Policy("mixed_bfloat16")};
  Conv1D conv(3, 3, {.padding = "same"});
  LSTM lstm(3);
  const Input x({-1, 4});
  Model model(x, lstm(conv(x)));
  const Tensor given = random_tensor({2, 7, 4});
  BOOST_TEST(model(Value(given)).tensor().equal(lstm(conv(Value(given))).tensor()));
}

BOOST_AUTO_TEST_CASE(errors_name_the_axis) {
  const Input x({-1, 4});
  const auto text = [](const std::function<void()>& f) { return refused<ShapeError>(f); };
  BOOST_TEST(text([&] { Dense(2, {.name = "fc"})(Flatten()(x)); }) ==
             "[Dense \"fc\"] input axis -1 must have a known size; got shape (?, ?)");
  BOOST_TEST(text([&] { BatchNormalization({.axis = 1})(x); }) ==
             "[BatchNormalization] input axis 1 must have a known size; got shape (?, ?, 4)");
  BOOST_TEST(text([&] {
               LayerNormalization({.axis = {1, 2}})(x);
             }) == "[LayerNormalization] input axis 1 must have a known size; got shape (?, ?, 4)");
  BOOST_TEST(text([&] {
               Conv1D(2, 3)(Permute({2, 1})(x));
             }) == "[Conv1D] input axis -1 must have a known size; got shape (?, 4, ?)");
  BOOST_TEST(text([&] {
               LSTM(2)(Permute({2, 1})(x));
             }) == "[LSTMCell \"lstm_cell\"] input axis -1 must have a known size; got shape (?, 4, ?)");
  Model model(x, Conv1D(2, 3, {.name = "conv"})(x));
  BOOST_TEST(text([&] { model.predict(random_tensor({1, 2, 4})); }).find("[Conv1D \"conv\"]") == 0U);
  BOOST_TEST(text([&] {
               model.predict(random_tensor({1, 5, 3}));
             }).find("must have shape (?, ?, 4)") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
