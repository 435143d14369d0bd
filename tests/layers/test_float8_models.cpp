#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

#include <mezzo/mezzo.hpp>

#include "layers/float8.hpp"
#include "support/folder.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Tensor random_inputs(const Shape& shape, std::uint64_t seed = 1) { return random_tensor(shape, DType::float32, seed); }

Sequential small_model() {
  return Sequential({Input({.shape = {6}}), Dense({.units = 8, .activation = "relu", .name = "a"}),
                     Dense({.units = 3, .name = "b"})});
}

Sequential float8_model() {
  Sequential model = small_model();
  model.quantize("float8");
  model.compile({.optimizer = Adam(0.01), .loss = "mse"});
  return model;
}

// The weights have the same numbers.
void check_equal_weights(const Layer& a, const Layer& b) {
  for (const auto& [path, weight] : a.named_weights()) {
    BOOST_TEST(weight.value().equal(float8_weight(b, path).value()), path);
  }
}

TrainerOptions quiet(int epochs) { return {.max_epochs = epochs, .enable_progress_bar = false}; }

DataLoader small_data(bool shuffle) {
  return DataLoader(
      Dataset::from_tensors({{"x", random_inputs({16, 6})}, {"y", random_inputs({16, 3}, 2), Role::target}}),
      {.batch_size = 4, .shuffle = shuffle});
}

struct PatchesOptions {
  std::string name{};
  Policy dtype{};
};

// A layer of a user: build() builds a convolution, then makes a weight of its own.
class Patches : public Layer {
 public:
  explicit Patches(const PatchesOptions& options = {}) : Layer("Patches", options) {}
  void build(const Shape& input) override {
    conv_.build(input);
    add_weight(gain_, {.shape = {2}, .initializer = Ones()});
  }

 protected:
  Value call(const Value& x) override { return out_(conv_(x) * gain_); }

 private:
  Conv2D conv_ = sub("conv", Conv2D({.filters = 2, .kernel_size = {3}}));
  Dense out_ = sub("out", Dense({.units = 3}));
  Variable gain_{"gain"};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(float8_models)

BOOST_AUTO_TEST_CASE(layers_of_a_class_are_known_after_its_first_call) {
  Patches layer({.dtype = "float8_from_float32"});
  layer(Value(random_inputs({2, 8, 8, 1})));
  BOOST_TEST((float8_weight(layer, "out/inputs_amax_history").shape() == Shape{1024}));
}

BOOST_AUTO_TEST_CASE(kernels_stay_floats_and_trainable) {
  Sequential model = float8_model();
  BOOST_TEST(model.trainable_weights().size() == 4U);
  BOOST_TEST(model.non_trainable_weights().size() == 12U);
  BOOST_TEST((float8_weight(model, "a/kernel").dtype() == DType::float32));
  BOOST_TEST(!float8_weight(model, "a/kernel").quantized());
  BOOST_TEST((float8_weight(model, "a/inputs_amax_history").shape() == Shape{1024}));
  const Policy policy = model.layers()[0]->dtype_policy();
  BOOST_TEST((policy.quantization_mode() == QuantizationMode::float8));
  BOOST_TEST(policy.source().name() == "float32");
  BOOST_TEST(model.summary_text().find("float32, float8") != std::string::npos);
  model.fit(random_inputs({4, 6}), random_inputs({4, 3}, 2), {.verbose = 0});
  BOOST_TEST(model.explain().find("quantize_and_dequantize") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(only_training_updates_scales) {
  Sequential model = float8_model();
  const Tensor x = random_inputs({16, 6}), y = random_inputs({16, 3}, 2);
  const Sequential before = clone(model);
  model.predict(x);
  model.evaluate(x, y, {.verbose = 0});
  check_equal_weights(model, before);
  model.layers()[0]->set_trainable(false);
  model.fit(x, y, {.epochs = 2, .verbose = 0});
  for (const char* path : {"a/kernel", "a/inputs_scale", "a/inputs_amax_history", "a/outputs_grad_scale"}) {
    BOOST_TEST(float8_weight(model, path).value().equal(float8_weight(before, path).value()), path);
  }
  for (const char* path : {"b/kernel", "b/inputs_scale", "b/kernel_scale", "b/outputs_grad_scale"}) {
    BOOST_TEST(!float8_weight(model, path).value().equal(float8_weight(before, path).value()), path);
  }
}

BOOST_AUTO_TEST_CASE(recomputed_and_eager_steps_give_the_same_scales) {
  const DataLoader data = small_data(false);
  Sequential model = float8_model(), again = clone(model), eager = clone(model);
  again.layers()[0]->set_remat(true);
  Trainer(quiet(3)).fit(model, data);
  Trainer(quiet(3)).fit(again, data);
  TrainerOptions by_op = quiet(3);
  by_op.eager = true;
  Trainer(by_op).fit(eager, data);
  check_equal_weights(model, again);
  for (const auto& [path, weight] : model.named_weights()) {
    BOOST_TEST(largest_difference(weight.value(), float8_weight(eager, path).value()) < 1e-5, path);
  }
}

BOOST_AUTO_TEST_CASE(resumed_trainings_have_the_same_bits) {
  const Folder folder;
  const DataLoader data = small_data(true);
  Sequential whole = float8_model(), first = clone(whole), resumed = clone(whole);
  Trainer(quiet(4)).fit(whole, data);
  Trainer trainer(quiet(2));
  trainer.fit(first, data);
  trainer.save_checkpoint(first, folder.path("c"));
  Trainer(quiet(4)).fit(resumed, data, {}, {.ckpt_path = folder.path("c")});
  check_equal_weights(whole, resumed);
  BOOST_TEST(float8_scale(whole, "a/inputs_scale") != 1);
}

BOOST_AUTO_TEST_CASE(policies_and_filters_choose_the_layers) {
  const Value ids = Input({.shape = {5}, .dtype = DType::int32});
  const Value table = Embedding({.input_dim = 7, .output_dim = 6, .name = "table"})(ids);
  const Value seen = MultiHeadAttention({.num_heads = 2, .key_dim = 4, .name = "attention"})(table, table);
  Model model({ids}, {Dense({.units = 3, .name = "head"})(seen)});
  model.quantize("float8", {.filters = "attention/.*"});
  BOOST_TEST(float8_weight(model, "attention/query/inputs_scale").value().item() == 1);
  model.quantize("float8", {.filters = "head"});
  const Tensor x = random::randint({8, 5}, 0, 7, {.seed = 1}).tensor(), y = random_inputs({8, 5, 3});
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.fit(x, y, {.epochs = 2, .verbose = 0});
  BOOST_TEST(float8_scale(model, "attention/attention_output/outputs_grad_scale") != 1);
  BOOST_TEST(float8_scale(model, "head/inputs_scale") != 1);
  Sequential mapped = small_model();
  mapped.to(PolicyMap({.default_policy = "float32", .policies = {{"a", "float8_from_mixed_bfloat16"}}}));
  BOOST_TEST(float8_weight(mapped, "a/kernel_scale").value().item() == 1);
  BOOST_TEST(mapped.weights().size() == 10U);
  Sequential all(
      {Input({.shape = {8, 8, 1}}), Conv2D({.filters = 2, .kernel_size = {3}}), Flatten(), Dense({.units = 3})},
      {.dtype = "float8_from_float32"});
  BOOST_TEST(all.weights().size() == 10U);  // the convolution computes in floats
}

BOOST_AUTO_TEST_CASE(files_restore_scales_and_histories) {
  const Folder folder;
  Sequential model = float8_model();
  const Tensor x = random_inputs({16, 6}), y = random_inputs({16, 3}, 2);
  model.fit(x, y, {.epochs = 2, .verbose = 0});
  model.save(folder.path("m.mezzo"));
  model.save(folder.path("m.keras"));
  Any<Model> loaded = load_model(folder.path("m.mezzo")), of_keras = load_model(folder.path("m.keras"));
  check_equal_weights(model, *loaded);
  check_equal_weights(model, *of_keras);
  model.save_weights(folder.path("w.safetensors"));
  model.save_weights(folder.path("w.weights.h5"));
  for (const char* name : {"w.safetensors", "w.weights.h5"}) {
    Sequential other = float8_model();
    other.load_weights(folder.path(name));
    check_equal_weights(model, other);
  }
  const double loss = model.train_on_batch(x, y)["loss"];
  for (Any<Model>* const one : {&loaded, &of_keras}) {
    BOOST_TEST((*one)->train_on_batch(x, y)["loss"] == loss);
    check_equal_weights(model, **one);
  }
}

BOOST_AUTO_TEST_CASE(files_of_floats_keep_scales) {
  const Folder folder;
  const Sequential floats = small_model();
  floats.save_weights(folder.path("floats.safetensors"));
  Sequential model = float8_model();
  float8_weight(model, "a/inputs_scale").assign(Tensor::scalar(0.5));
  model.load_weights(folder.path("floats.safetensors"));
  BOOST_TEST(float8_weight(model, "a/kernel").value().equal(float8_weight(floats, "a/kernel").value()));
  BOOST_TEST(float8_scale(model, "a/inputs_scale") == 0.5);
}

BOOST_AUTO_TEST_CASE(wrong_combinations_are_refused) {
  const std::string known = "float8 is for Dense, EinsumDense and projections of attention layers";
  Embedding table({.input_dim = 7, .output_dim = 4});
  table.build({-1, 3});
  check_float8_error<ValueError>(known + "; got Embedding", [&] { table.quantize("float8"); });
  check_float8_error<ValueError>(known + "; got the policy float8_from_float32 of Conv2D", [] {
    Conv2D({.filters = 2, .kernel_size = {3}, .dtype = "float8_from_float32"}).build({-1, 8, 8, 1});
  });
  check_float8_error<ValueError>(known + "; got the policy float8_from_float32 of Embedding",
                                 [&] { table.to("float8_from_float32"); });
  check_float8_error<ValueError>(known + "; got the policy float8_from_float32", [] {
    Sequential({Input({.shape = {3, 4}}), LSTM({.units = 2, .dtype = "float8_from_float32"})})
        .predict(Tensor({1, 3, 4}));
  });
  check_float8_error<ValueError>(known + "; found no built one", [] {
    Sequential({Input({.shape = {3, 4}}), LSTM({.units = 2})}).quantize("float8");
  });
  check_float8_error<ValueError>(known + "; got LSTMCell \"lstm/lstm_cell\"", [] {
    Sequential({Input({.shape = {3, 4}}), LSTM({.units = 2, .name = "lstm"}), Dense({.units = 1})})
        .quantize("float8", {.filters = ".*"});
  });
  Sequential model = float8_model();
  check_float8_error<ValueError>(
      "quantize: layers must not be quantized already; got Dense \"a\" (float8_from_float32)",
      [&] { model.quantize("float8"); });
  check_float8_error<ValueError>("quantize: layers must not be quantized already", [&] { model.quantize("int8"); });
  check_float8_error<ValueError>("must not have products in float8, which adapters would evade",
                                 [&] { model.enable_lora({.targets = "a", .rank = 2}); });
  Sequential adapted = small_model();
  adapted.enable_lora({.targets = "a", .rank = 2});
  check_float8_error<ValueError>("must have no adapters; got those of Dense \"a\"",
                                 [&] { adapted.quantize("float8"); });
  check_float8_error<ValueError>("to: weights to round in training must have no adapters; got those of Dense \"a\"",
                                 [&] { adapted.to("float8_from_float32"); });
  check_float8_error<ValueError>("to: weights to round in training must have no adapters; got those of Dense \"a\"",
                                 [&] { adapted.to("fake_int8_from_float32"); });
  BOOST_TEST((adapted.dtype_policy() == Policy("float32")));  // a refused policy changes nothing
  const Folder folder;
  adapted.save(folder.path("adapted.mezzo"));
  for (const char* policy : {"float8_from_float32", "fake_int8_from_float32"}) {
    check_float8_error<FileError>("weights to round in training must have no adapters; got those of Dense \"a\"",
                                  [&] { load_model(folder.path("adapted.mezzo"), {.dtype = policy}); });
  }
  check_float8_error<ValueError>("activations can't be chosen for float8",
                                 [] { small_model().quantize("float8", {.activations = "dynamic"}); });
  check_float8_error<NameError>("unknown quantization \"fake_float8\"", [] { small_model().quantize("fake_float8"); });
  check_float8_error<ValueError>("products can't be in float8 and int8", [] { Policy("float8_from_mixed_int8"); });
  Sequential int8 = small_model();
  int8.to("mixed_int8");
  check_float8_error<ValueError>("products can't be in float8 and int8; got Dense \"a\"",
                                 [&] { int8.quantize("float8"); });
  Sequential infinite = small_model();
  float8_weight(infinite, "a/bias")
      .assign(Tensor({8}, std::vector<double>(8, std::numeric_limits<double>::infinity())));
  float8_weight(infinite, "a/kernel").assign(Tensor({6, 8}, std::vector<double>(48, std::nan(""))));
  check_float8_error<ValueError>("numbers of a/kernel must be finite", [&] { infinite.quantize("float8"); });
}

BOOST_AUTO_TEST_SUITE_END()
