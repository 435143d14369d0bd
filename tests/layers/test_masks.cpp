// Masks of Values: layers that make, use, pass and drop them, losses and metrics under them, and models that carry
// them.
#include <mezzo/mezzo.hpp>

#include "layers/masked.hpp"
#include "support/captured.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

template <class L>
void check_one(const std::string& name, const std::function<L()>& make, bool training = false) {
  check_masked<L>(
      name, make, [](L& layer, const Values& xs) -> Values { return {layer(xs[0])}; }, training);
}

template <class L>
void check_merged(const std::string& name, const L& layer = L()) {
  check_masked<L>(
      name, [&] { return clone(layer); }, [](L& merge, const Values& xs) -> Values { return {merge(xs)}; });
}

Sequential tagger() {
  Sequential model({Embedding(6, 4, {.mask_zero = true}), Dense(3, {.activation = "softmax"})});
  model.compile({.optimizer = SGD(0.5),
                 .loss = "sparse_categorical_crossentropy",
                 .metrics = {"accuracy"},
                 .weighted_metrics = {metrics::SparseCategoricalCrossentropy({.name = "ce"})}});
  model.predict(mask_data("ids"));
  return model;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(masks)

BOOST_AUTO_TEST_CASE(layers_equal_keras) {
  check_one<Masking>("masking", [] { return Masking(0.25); });
  check_one<Embedding>("embedding", [] { return Embedding(7, 3, {.mask_zero = true}); });
  check_one<Dense>("dense", [] { return Dense(3); });
  check_one<GlobalAveragePooling1D>("global_average_pooling1d", [] { return GlobalAveragePooling1D(); });
  check_one<GlobalAveragePooling1D>("global_average_pooling1d_keepdims",
                                    [] { return GlobalAveragePooling1D({.keepdims = true}); });
  check_one<Softmax>("softmax", [] { return Softmax(); });
  check_one<BatchNormalization>(
      "batch_normalization", [] { return BatchNormalization(); }, true);
  check_one<BatchNormalization>("batch_normalization_inference", [] { return BatchNormalization(); });
  for (const char* name : {"add", "add_of_one_mask"}) check_merged<Add>(name);
  for (const char* name : {"multiply", "multiply_of_one_mask"}) check_merged<Multiply>(name);
  for (const char* name : {"concatenate", "concatenate_of_one_mask"}) check_merged<Concatenate>(name);
  check_merged<Concatenate>("concatenate_steps", Concatenate(1));
}

// Keras gives NaN for the mean of no step.
BOOST_AUTO_TEST_CASE(mean_of_no_step_is_zero) {
  const Value x = Value(floats({1, 2, 2}, {1, 2, 3, 4})).with_mask(bools({1, 2}, {0, 0}));
  BOOST_TEST(GlobalAveragePooling1D()(x).tensor().equal(Tensor({1, 2})));
  const Value empty = Value(Tensor({0, 3, 2})).with_mask(bools({0, 3}, {}));
  BOOST_TEST(GlobalAveragePooling1D()(empty).shape() == (Shape{0, 2}));
}

BOOST_AUTO_TEST_CASE(low_precision) {
  // 70000 / 2 steps: the sum is no float16 number, the mean is.
  const Value x = Value(floats({1, 3, 1}, {35000, 35000, 1})).with_mask(bools({1, 3}, {1, 1, 0}));
  BOOST_TEST(GlobalAveragePooling1D({.dtype = "mixed_float16"})(x).item() == 35008);
  const Value scores = Value(floats({1, 3}, {1, 2, 3})).with_mask(bools({1, 3}, {1, 0, 1}));
  for (const char* policy : {"mixed_float16", "mixed_bfloat16"}) {
    const Tensor y = Softmax({.dtype = policy})(scores).tensor().cast(DType::float32);
    BOOST_TEST(std::abs(y.data<float>()[0] - 0.1192) <= 1e-3);
    BOOST_TEST(y.data<float>()[1] == 0);
    BatchNormalization norm({.dtype = policy});
    const Value batch = Value(floats({1, 3, 1}, {1, 3, 500})).with_mask(bools({1, 3}, {1, 1, 0}));
    const Trace trace(Trace::Mode::eager, true);
    const Tensor normalized = norm(batch, {.training = true}).tensor().cast(DType::float32);
    BOOST_TEST(std::abs(normalized.data<float>()[0] + 1) <= 0.01);
  }
}

BOOST_AUTO_TEST_CASE(masks_travel_with_values) {
  const Value ids = floats({2, 3}, {1, 2, 0, 3, 0, 0}).cast(DType::int32);
  const Tensor expected = bools({2, 3}, {1, 1, 0, 1, 0, 0}).tensor();
  Embedding embedding(4, 2, {.mask_zero = true});
  const Value x = embedding(ids);
  const auto keeps = [&](const Value& y) { return y.mask().defined() && y.mask().tensor().equal(expected); };
  BOOST_TEST(keeps(x));
  BOOST_TEST(keeps(Dropout(0.5)(x)));
  BOOST_TEST(keeps(Activation("relu")(ReLU()(LeakyReLU()(LayerNormalization()(Rescaling(2.0)(x)))))));
  BOOST_TEST(keeps(Sequential({Dense(3), Dense(2)})(x)));
  BOOST_TEST(keeps(Dense(2, {.dtype = "mixed_bfloat16"})(x)));
  BOOST_TEST(keeps(Dense(2, {.dtype = Policy("p=f32,c=bf16,o=f32")})(x)));
  BOOST_TEST(keeps(Add()({x, x})));
  BOOST_TEST(!(x * 2.0).mask().defined());
  BOOST_TEST(!Embedding(4, 2)(ids).mask().defined());
  BOOST_TEST(!GlobalAveragePooling1D()(x).mask().defined());
  BOOST_TEST(!x.with_mask({}).mask().defined());

  // An explicit mask replaces that of the input, also inside of containers. Numbers are compared with 0.
  const Value other = bools({2, 3}, {0, 1, 0, 0, 1, 0});
  BOOST_TEST(Dense(2)(x, {.mask = other}).mask().tensor().equal(other.tensor()));
  GlobalAveragePooling1D pool;
  const Tensor pooled = pool(x.with_mask(other)).tensor();
  BOOST_TEST(pool(x, {.mask = other}).tensor().equal(pooled));
  BOOST_TEST(pool(x, {.mask = cast(other, DType::int32)}).tensor().equal(pooled));
  BOOST_TEST(Sequential({Dropout(0.1), pool})(x, {.mask = other}).tensor().equal(pooled));
  BOOST_TEST(!pool(x).tensor().equal(pooled));
}

// A layer of the user's own that uses its mask, and one that changes it.
BOOST_AUTO_TEST_CASE(layers_of_the_users_own) {
  class Sum : public Layer {
   public:
    Sum() : Layer("Sum") {}
    bool supports_masking() const override { return true; }
    Values compute_mask(const Values&, const Values&) const override { return {}; }

   protected:
    Value call(const Value& x) override {
      return sum(x.mask().defined() ? where(expand_dims(x.mask(), -1), x, 0.0) : x, {.axes = {1}});
    }
  };
  class Reverse : public Layer {
   public:
    Reverse() : Layer("Reverse") {}
    bool supports_masking() const override { return true; }
    Values compute_mask(const Values&, const Values& masks) const override {
      return {masks[0].defined() ? flip(masks[0], 1) : Value()};
    }

   protected:
    Value call(const Value& x) override { return flip(x, 1); }
  };
  const Value x = floats({1, 3, 1}, {1, 2, 4}), mask = bools({1, 3}, {1, 1, 0});
  BOOST_TEST(Sum()(x, {.mask = mask}).item() == 3);
  BOOST_TEST(Sum()(Reverse()(x, {.mask = mask})).item() == 3);
  BOOST_TEST(Sum()(Reverse()(x)).item() == 7);
}

BOOST_AUTO_TEST_CASE(dropped_masks_warn_once) {
  const CapturedOutput captured;
  const Value x = Value(Tensor({1, 2, 3})).with_mask(bools({1, 2}, {1, 0}));
  Flatten flatten({.name = "flat"});
  BOOST_TEST(!flatten(x).mask().defined());
  flatten(x);
  BOOST_TEST(captured.text().find("[Flatten \"flat\"] does not support masks: the mask of its input is dropped, layers "
                                  "after it don't see it") != std::string::npos);
  BOOST_TEST(captured.text().find("mask", captured.text().find("see it")) == std::string::npos);
  GlobalAveragePooling1D()(x);
  MultiHeadAttention(1, 2)(x, x);
  BOOST_TEST(captured.text().find("EinsumDense") == std::string::npos);
  BOOST_TEST(captured.text().find("Pooling") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(losses_and_metrics) {
  const Value y = floats({2, 3}, {1, 2, 3, 4, 5, 6}), mask = bools({2, 3}, {1, 0, 0, 1, 1, 0});
  const Value p = Value(floats({2, 3}, {2, 9, 9, 6, 8, 9})).with_mask(mask);
  const auto squares = [](const char* reduction) {
    return detail::LossFunction([](const Value& a, const Value& b) { return square(a - b); }, {.reduction = reduction});
  };
  // 1, 4 and 9 count.
  BOOST_TEST(squares("mean")(y, p).item() == 14.0 / 3, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(squares("sum")(y, p).item() == 14);
  BOOST_TEST(squares("mean_with_sample_weight")(y, p).item() == 14.0 / 3, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(squares("none")(y, p).tensor().equal(floats({2, 3}, {1, 0, 0, 4, 9, 0}).cast(DType::float32)));
  BOOST_TEST(squares("mean")(y, p, floats({2}, {1, 2})).item() == 9, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(squares("mean")(y, p.with_mask(bools({2, 3}, {0, 0, 0, 0, 0, 0}))).item() == 0);
  BOOST_TEST(squares("mean")(y, p.with_mask(bools({2}, {0, 1}))).item() == 22.0 / 3,
             boost::test_tools::tolerance(1e-6));
  BOOST_TEST(refused<ShapeError>([&] { MeanSquaredError()(y, p); }) ==
             "[mean_squared_error] the mask of y_pred must have the first axes of the values, (2,); got shape (2, 3)");
  // ignore_class and the mask: both must be true.
  const Value labels = floats({1, 3}, {0, 1, 1}).cast(DType::int32);
  const Value scores = Value(floats({1, 3, 2}, {0.5, 0.5, 0.25, 0.75, 0.5, 0.5})).with_mask(bools({1, 3}, {1, 1, 0}));
  const SparseCategoricalCrossentropy ignoring({.ignore_class = 0});
  BOOST_TEST(ignoring(labels, scores).item() == -std::log(0.75), boost::test_tools::tolerance(1e-5));

  Any<Metric> mean = Metric::adopt([](const Value& a, const Value& b) { return square(a - b); });
  mean->update_state(y, p);
  BOOST_TEST(mean->result().item() == 14.0 / 3, boost::test_tools::tolerance(1e-6));
  mean->reset_state();
  mean->update_state(y, p, floats({2}, {1, 2}));
  BOOST_TEST(mean->result().item() == 27.0 / 5, boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(training_equals_keras) {
  const Tensor ids = mask_data("ids");
  Sequential classifier({Embedding(6, 4, {.mask_zero = true}), GlobalAveragePooling1D(),
                         Dense(3, {.activation = "tanh"}), Dense(1, {.activation = "sigmoid"})});
  classifier.compile({.optimizer = SGD(0.5), .loss = "binary_crossentropy", .metrics = {"accuracy"}});
  classifier.predict(ids);
  check_training("classifier", classifier, {ids}, mask_data("labels"));

  Sequential tags = tagger(), weighted = tagger();
  check_training("tagger", tags, {ids}, mask_data("tags"));
  check_training("tagger_weights", weighted, {ids}, mask_data("tags"), {.sample_weight = mask_data("tag_weights")});

  // A functional model keeps the mask of its output.
  Input x({5}, {.dtype = "int32"});
  Model functional(x, Dense(3, {.activation = "softmax"})(Embedding(6, 4, {.mask_zero = true})(x)));
  functional.compile({.optimizer = SGD(0.5),
                      .loss = "sparse_categorical_crossentropy",
                      .metrics = {"accuracy"},
                      .weighted_metrics = {metrics::SparseCategoricalCrossentropy({.name = "ce"})}});
  check_training("tagger", functional, {ids}, mask_data("tags"));

  // Padding does not change the loss.
  Tensor longer({4, 8}, DType::int64);
  for (std::int64_t i = 0; i < 20; ++i) {
    longer.mutable_data<std::int64_t>()[i / 5 * 8 + i % 5] = ids.data<std::int64_t>()[i];
  }
  BOOST_TEST(largest_difference(classifier.predict(longer), classifier.predict(ids)) <= 1e-6);
}

BOOST_AUTO_TEST_CASE(bad_masks_are_refused) {
  const Value x = Tensor({2, 3, 4});
  BOOST_TEST(refused<DTypeError>([&] { x.with_mask(Tensor({2, 3})); }) == "[Value] a mask must be bool; got float32");
  BOOST_TEST(refused<ShapeError>([&] {
               x.with_mask(bools({1, 1, 1, 1}, {1}));
             }) == "[Value] a mask must have at most the axes of its value, (2, 3, 4); got shape (1, 1, 1, 1)");
  BOOST_TEST(refused<ShapeError>([&] {
               Softmax()(x, {.mask = bools({2, 3}, {1, 1, 1, 1, 1, 1})});
             }) == "[Softmax] the mask must broadcast to the input (2, 3, 4); got shape (2, 3)");
  BOOST_TEST(refused<ShapeError>([&] {
               BatchNormalization()(x, {.mask = bools({2}, {1, 1})});
             }) == "[BatchNormalization] the mask must have one axis less than the input (2, 3, 4); got shape (2,)");
  BOOST_TEST(refused<ValueError>([&] {
               Dense(2)(x, {.mask = {Value(), Value()}});
             }) == "[Dense] number of masks must be at most that of the inputs, 1; got 2");
}

BOOST_AUTO_TEST_CASE(maximum_and_minimum_take_what_counts) {
  const Value x = Value(Tensor({1, 3, 1}, std::vector<float>{1, 5, 3})).with_mask(bools({1, 3}, {1, 0, 0}));
  const Value y = Value(Tensor({1, 3, 1}, std::vector<float>{2, 4, 9})).with_mask(bools({1, 3}, {0, 1, 0}));
  const Value greatest = Maximum()({x, y}), least = Minimum()({x, y});
  BOOST_TEST(greatest.tensor().to_doubles() == (std::vector<double>{1, 4, 3}), boost::test_tools::per_element());
  BOOST_TEST(least.tensor().to_doubles() == (std::vector<double>{1, 4, 3}), boost::test_tools::per_element());
  BOOST_TEST(greatest.mask().tensor().to_doubles() == (std::vector<double>{1, 1, 0}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(recurrent_layers_use_the_mask_that_travels) {
  const Value mask = bools({2, 4}, {1, 1, 0, 0, 1, 0, 1, 1});
  const Tensor x = random_tensor({2, 4, 3});
  const Value masked = Value(x).with_mask(mask);
  GRU last(2), all(2, {.return_sequences = true}), back(2, {.return_sequences = true, .go_backwards = true});
  const Tensor expected = last(x, {.mask = mask}).tensor();
  BOOST_TEST(last(masked).tensor().equal(expected));
  BOOST_TEST(!last(x).tensor().equal(expected));
  BOOST_TEST(!last(masked).mask().defined());
  BOOST_TEST(all(masked).mask().tensor().equal(mask.tensor()));
  BOOST_TEST(back(masked).mask().tensor().equal(flip(mask, 1).tensor()));
  Bidirectional both(LSTM(2, {.return_sequences = true}));
  const Value y = both(masked);
  BOOST_TEST(y.tensor().equal(both(x, {.mask = mask}).tensor()));
  BOOST_TEST(y.mask().tensor().equal(mask.tensor()));
  BOOST_TEST(TimeDistributed(Dense(2))(y).mask().tensor().equal(mask.tensor()));
}

BOOST_AUTO_TEST_CASE(padding_changes_nothing_in_a_model_with_a_recurrent_layer) {
  seed_everything(0);
  Sequential model({Embedding(9, 4, {.mask_zero = true}), LSTM(3), Dense(1)});
  const Tensor padded({2, 5}, std::vector<std::int32_t>{3, 4, 5, 0, 0, 7, 1, 2, 0, 0});
  const Tensor bare({2, 3}, std::vector<std::int32_t>{3, 4, 5, 7, 1, 2});
  BOOST_TEST(largest_difference(model.predict(padded), model.predict(bare)) < 1e-6);
}

BOOST_AUTO_TEST_SUITE_END()
