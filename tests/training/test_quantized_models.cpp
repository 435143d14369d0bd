#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/mezzo.hpp>

#include "support/folder.hpp"
#include "support/refused.hpp"
#include "support/tensors.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Sequential mixed_model() {
  Sequential model({Input({.shape = {6}}), Dense({.units = 8, .activation = "relu", .name = "a"}),
                    Dense({.units = 3, .name = "b"})});
  return model;
}

Variable weight_of(const Layer& layer, const std::string& path) {
  for (const auto& [name, weight] : layer.named_weights()) {
    if (name == path) return weight;
  }
  throw std::runtime_error("no weight " + path);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(quantized_models)

BOOST_AUTO_TEST_CASE(models_are_saved_and_loaded) {
  const Folder folder;
  for (const char* mode : {"int8", "int4/4", "int4/-1"}) {
    for (const char* file : {"model.mezzo", "model.keras"}) {
      BOOST_TEST_CONTEXT(mode << " " << file) {
        Sequential model = mixed_model();
        model.quantize(mode);
        const Tensor x = random_tensor({4, 6}, DType::float32, 1);
        const Tensor y = model(x).tensor();
        model.save(folder.path(file));
        Any<Model> loaded = load_model(folder.path(file));
        BOOST_TEST((*loaded)(x).tensor().equal(y));
        BOOST_TEST(weight_of(*loaded, "a/kernel").quantized());
        model.save_weights(folder.path("w.weights.h5"));
        Sequential other = mixed_model();
        other.quantize(mode);
        other.load_weights(folder.path("w.weights.h5"));
        BOOST_TEST(other(x).tensor().equal(y));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(files_leave_out_slots_of_the_floats_before) {
  const Folder folder;
  const Tensor x = random_tensor({8, 6}, DType::float32, 1), y = random_tensor({8, 3}, DType::float32, 2);
  for (const char* file : {"model.mezzo", "model.keras"}) {
    BOOST_TEST_CONTEXT(file) {
      Sequential model = mixed_model();
      model.compile({.optimizer = Adam(0.01), .loss = "mse"});
      model.fit(x, y, {.epochs = 2, .verbose = false});
      model.quantize("int8");
      model.save(folder.path(file));
      const Any<Model> loaded = load_model(folder.path(file));
      BOOST_TEST(loaded->predict(x).equal(model.predict(x)));
      const double loss = model.train_on_batch(x, y)["loss"];
      BOOST_TEST(loaded->train_on_batch(x, y)["loss"] == loss);
      BOOST_TEST(loaded->train_on_batch(x, y)["loss"] == model.train_on_batch(x, y)["loss"]);
    }
  }
}

BOOST_AUTO_TEST_CASE(files_of_floats_are_quantized_while_they_are_read) {
  const Folder folder;
  const Sequential floats = mixed_model();
  floats.save_weights(folder.path("floats.safetensors"));
  const Tensor x = random_tensor({4, 6}, DType::float32, 1);
  for (const char* mode : {"int8", "int4/4", "int4/-1"}) {
    BOOST_TEST_CONTEXT(mode) {
      Sequential expected = clone(floats), model = mixed_model();
      expected.quantize(mode);
      model.quantize(mode);
      BOOST_TEST(!model(x).tensor().equal(expected(x).tensor()));
      const LoadWeightsReport report = model.load_weights(folder.path("floats.safetensors"));
      BOOST_TEST((report.missing_keys.empty() && report.unexpected_keys.empty()));
      BOOST_TEST(model(x).tensor().equal(expected(x).tensor()));
    }
  }
  Sequential other({Dense({.units = 3, .name = "a"})});
  other.build({-1, 5});
  other.quantize("int4/4");
  BOOST_TEST(refused<FileError>([&] {
               other.load_weights(folder.path("floats.safetensors"));
             }).find("tensor \"a.weight\" must have shape (3, 5), got (8, 6)") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(files_with_nan_change_no_weight_of_a_quantized_model) {
  const Folder folder;
  const auto two = [] {
    Sequential model({Dense({.units = 4, .name = "a"}), Dense({.units = 3, .name = "b"})});
    model.build({-1, 5});
    return model;
  };
  const Sequential floats = two();
  Tensor bad = floats.weights()[2].value().copy();
  bad.mutable_data<float>()[5] = std::nanf("");
  floats.weights()[2].assign(bad);
  floats.save_weights(folder.path("bad.safetensors"));
  Sequential model = two();
  model.quantize("int8");
  const std::vector<Tensor> before = model.get_weights();
  BOOST_TEST(refused<FileError>([&] {
               model.load_weights(folder.path("bad.safetensors"));
             }).find("tensor \"b.weight\" of a quantized weight must have finite numbers; got nan") !=
             std::string::npos);
  const std::vector<Tensor> after = model.get_weights();
  for (std::size_t i = 0; i < before.size(); ++i) BOOST_TEST(after[i].equal(before[i]));
}

BOOST_AUTO_TEST_CASE(parts_of_layers_are_restored) {
  const Folder folder;
  const Value in = Input({.shape = {5, 6}});
  Model model({in}, {MultiHeadAttention({.num_heads = 2, .key_dim = 4, .name = "attention"})(in, in)});
  model.quantize("int8", {.filters = "attention/query"});
  const Tensor x = random_tensor({2, 5, 6}, DType::float32, 1);
  const Tensor y = model(x).tensor();
  model.save(folder.path("model.mezzo"));
  Any<Model> loaded = load_model(folder.path("model.mezzo"));
  BOOST_TEST(weight_of(*loaded, "attention/query/kernel").quantized());
  BOOST_TEST(!weight_of(*loaded, "attention/value/kernel").quantized());
  BOOST_TEST((*loaded)(x).tensor().equal(y));
}

BOOST_AUTO_TEST_CASE(plans_and_predictors_agree_with_eager_calls) {
  Sequential model = mixed_model();
  const Tensor x = random_tensor({4, 6}, DType::float32, 1);
  const Tensor floats = model.predict(x);
  model.quantize("int8");
  const Tensor y = model(x).tensor();
  BOOST_TEST(largest_difference(model.predict(x), y) < 1e-6);
  BOOST_TEST(!model.predict(x).equal(floats));
  Predictor predictor(model);
  BOOST_TEST(largest_difference(predictor(x), y) < 1e-6);
}

// Weights are quantized where they are built, so a run's policy can't do it later.
BOOST_AUTO_TEST_CASE(runs_under_quantized_policies_need_quantized_weights) {
  const Tensor x = random_tensor({4, 6}, DType::float32, 1);
  const DataLoader loader(Dataset::from_tensors({{"x", x}}), {.batch_size = 4});
  const std::string text =
      " precision: policy int8_from_float32 needs quantized weights; a/kernel is built of float32; call "
      "quantize(\"int8\") first";
  Sequential built = mixed_model();
  BOOST_TEST(refused<ValueError>([&] { Trainer({.precision = Policy("int8_from_float32")}).predict(built, loader); }) ==
             "[Trainer]" + text);
  BOOST_TEST(refused<ValueError>([&] { (void)built.predictor({.precision = Policy("int8_from_float32")}); }) ==
             "[Predictor]" + text);
  Sequential waiting({Dense({.units = 3, .name = "b"})});
  (void)Trainer({.precision = Policy("int8_from_float32")}).predict(waiting, loader);
  BOOST_TEST(weight_of(waiting, "b/kernel").quantized());
}

BOOST_AUTO_TEST_CASE(maps_keep_the_inputs_of_their_default_policy) {
  const Policy map = PolicyMap({.default_policy = "int8/dynamic_from_float32"});
  BOOST_TEST((map.quantized_inputs() == QuantizedInputs::dynamic_int8));
}

BOOST_AUTO_TEST_CASE(training_changes_biases_alone) {
  Sequential model = mixed_model();
  model.quantize("int8");
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const Tensor before = weight_of(model, "a/kernel").value(), bias = weight_of(model, "b/bias").value();
  const Tensor x = random_tensor({8, 6}, DType::float32, 1), y = random_tensor({8, 3}, DType::float32, 2);
  model.fit(x, y, {.epochs = 2, .verbose = 0});
  BOOST_TEST(weight_of(model, "a/kernel").value().equal(before));
  BOOST_TEST(!weight_of(model, "b/bias").value().equal(bias));
}

BOOST_AUTO_TEST_SUITE_END()
