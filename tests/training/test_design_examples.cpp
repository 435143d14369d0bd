// Examples of user code, in the style of Keras and of Lightning.
#include <boost/test/unit_test.hpp>

#include <xtensor/xarray.hpp>

#include <mezzo/mezzo.hpp>
#include <mezzo/xtensor.hpp>

#include "mixed_module.hpp"

using namespace mezzo;

namespace {

/// Images of three classes; the class is the index of the brightest third of the rows.
Dataset images(std::int64_t count) {
  std::vector<std::uint8_t> pixels;
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto label = static_cast<std::int64_t>(philox(3, static_cast<std::uint64_t>(i))[0] % 3);
    labels.push_back(label);
    for (std::int64_t p = 0; p < 144; ++p) {
      const auto noise = static_cast<int>(philox(4, static_cast<std::uint64_t>(i * 144 + p))[0] % 100);
      pixels.push_back(static_cast<std::uint8_t>(noise + (p / 48 == label ? 150 : 0)));
    }
  }
  return Dataset::from_tensors(
      {{"image", Tensor({count, 12, 12, 1}, pixels)}, {"label", Tensor({count}, labels), Role::target}});
}

Sequential small_cnn() {
  return Sequential({
      Rescaling({.scale = 1.0 / 255}),
      Conv2D({.filters = 8, .kernel_size = 3, .activation = "relu"}),
      MaxPooling2D({.pool_size = 2}),
      Flatten(),
      Dropout({.rate = 0.5}),
      Dense({.units = 3, .dtype = "float32"}),
  });
}

class Classifier : public Module {
 public:
  Value training_step(const Batch& batch) override {
    auto logits = backbone_(batch["image"]);
    log("train_acc", accuracy(batch["label"], logits), {.prog_bar = true});
    return sparse_categorical_crossentropy(batch["label"], logits, {.from_logits = true});
  }
  void validation_step(const Batch& batch) override {
    log("val_acc", accuracy(batch["label"], backbone_(batch["image"])));
  }
  OptimizerConfigs configure_optimizers() override {
    return {{.optimizer = AdamW({.learning_rate = CosineDecay({.initial_learning_rate = 3e-3, .decay_steps = 60})})}};
  }

 private:
  Sequential backbone_ = sub("backbone", small_cnn());
};

}  // namespace

BOOST_AUTO_TEST_SUITE(design_examples)

BOOST_AUTO_TEST_CASE(sequential_with_a_trainer_in_bf16) {
  seed_everything(0);
  const Dataset train = images(512), test = images(256);
  auto model = small_cnn();
  model.compile({.optimizer = AdamW({.learning_rate = 1e-2}),
                 .loss = SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {SparseCategoricalAccuracy()}});
  Trainer trainer({.max_epochs = 5, .precision = "bf16", .enable_progress_bar = false});
  History history = trainer.fit(model, DataLoader(train, {.batch_size = 128, .shuffle = true}),
                                DataLoader(test, {.batch_size = 100}));
  BOOST_TEST(history.epoch.size() == 5U);
  for (const char* name : {"loss", "val_loss", "sparse_categorical_accuracy", "val_sparse_categorical_accuracy"}) {
    BOOST_TEST_CONTEXT(name) { BOOST_TEST(history.history.at(name).size() == 5U); }
  }
  const Logs logs = trainer.validate(model, DataLoader(test, {.batch_size = 100}));
  BOOST_TEST(logs.at("sparse_categorical_accuracy") > 0.95);
  BOOST_TEST(logs.at("loss") == history.history.at("val_loss").back());
}

BOOST_AUTO_TEST_CASE(keras_habit_on_arrays) {
  seed_everything(0);
  xt::xarray<float> x = xt::xarray<float>::from_shape({40, 4});
  xt::xarray<float> y = xt::xarray<float>::from_shape({40, 1});
  for (std::size_t i = 0; i < 40; ++i) {
    for (std::size_t j = 0; j < 4; ++j) x(i, j) = unit_float(philox(5, i, j)[0]);
    y(i, 0) = x(i, 0) - 2 * x(i, 1);
  }
  Sequential model({Dense({.units = 8, .activation = "relu"}), Dense({.units = 1})});
  model.compile({.optimizer = "adam", .loss = "mse", .metrics = {"mae"}});
  const double before = model.evaluate(x, y).at("loss");
  const History history = model.fit(x, y, {.batch_size = 8, .epochs = 5, .verbose = false, .validation_split = 0.1});
  BOOST_TEST(history.history.at("val_loss").size() == 5U);
  BOOST_TEST(history.history.at("val_mae").size() == 5U);
  BOOST_TEST(model.evaluate(x, y).at("loss") < before);
  const xt::xarray<float> predicted = model.predict(x);
  BOOST_TEST(predicted.shape()[0] == 40U);
  BOOST_TEST(predicted.shape()[1] == 1U);
}

BOOST_AUTO_TEST_CASE(functional_with_features) {
  auto x = Input({.shape = {28, 28, 1}});
  auto h = Conv2D({.filters = 2, .kernel_size = 3, .name = "conv2"})(x);
  auto y = Dense({.units = 10})(Flatten()(h));
  Model model({.inputs = {x}, .outputs = {y}});
  Model features({.inputs = model.inputs(), .outputs = {model.get_layer("conv2").output()}});
  const Tensor image({3, 28, 28, 1});
  BOOST_TEST(to_string(model(image).shape()) == "(3, 10)");
  BOOST_TEST(to_string(features(image).shape()) == "(3, 26, 26, 2)");
  BOOST_TEST(features.weights().front().id() == model.get_layer("conv2").weights().front().id());
}

BOOST_AUTO_TEST_CASE(lightning_habit) {
  seed_everything(0);
  const DataLoader train(images(512), {.batch_size = 64, .shuffle = true});
  const DataLoader validation(images(128), {.batch_size = 64});
  Classifier classifier;
  const History history =
      Trainer({.max_epochs = 8, .precision = "bf16", .enable_progress_bar = false}).fit(classifier, train, validation);
  BOOST_TEST(history.history.at("train_acc").size() == 8U);
  BOOST_TEST(history.history.at("val_acc").back() > 0.9);
}

BOOST_AUTO_TEST_CASE(an_activation_where_a_layer_is_taken) {
  Sequential model({Rescaling({.scale = -1}), Activation("relu")});
  const Value y = model(Tensor({1, 2}, std::vector<float>{-2, 3}));
  BOOST_TEST(y.tensor().equal(Tensor({1, 2}, std::vector<float>{2, 0})));
}

BOOST_AUTO_TEST_CASE(a_layer_of_ones_own) {
  mezzo_tests::Scale scale({.initial = 3});
  const Value y = scale(Tensor({1, 2}, std::vector<float>{1, 2}));
  BOOST_TEST(y.tensor().equal(Tensor({1, 2}, std::vector<float>{3, 6})));
  BOOST_TEST(scale.named_weights().front().first == "gain");
}

BOOST_AUTO_TEST_SUITE_END()
