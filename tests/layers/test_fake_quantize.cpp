#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <mezzo/core/cpu.hpp>
#include <mezzo/mezzo.hpp>
#include <mezzo/nn/calibrate.hpp>

#include "support/folder.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Variable weight_of(const Layer& layer, const std::string& path) {
  for (const auto& [name, weight] : layer.named_weights()) {
    if (name == path) return weight;
  }
  throw std::runtime_error("no weight " + path);
}

bool has_weight(const Layer& layer, const std::string& path) {
  const auto all = layer.named_weights();
  return std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.first == path; });
}

// The call throws E with that part in its text.
template <class E, class Call>
void check_part(const std::string& part, Call&& call) {
  BOOST_CHECK_EXCEPTION(call(), E, [&](const E& e) {
    BOOST_TEST_MESSAGE(e.what());
    return std::string(e.what()).find(part) != std::string::npos;
  });
}

Tensor call(Any<Layer>& layer, const Tensor& x) { return layer(Value(x)).tensor(); }

Tensor random_inputs(const Shape& shape, std::uint64_t seed = 1) { return random_tensor(shape, DType::float32, seed); }

Dense dense_of(const Tensor& kernel, const Policy& policy) {
  Dense layer({.units = kernel.shape()[1], .use_bias = false, .dtype = policy});
  layer.build({-1, kernel.shape()[0]});
  weight_of(layer, "kernel").assign(kernel);
  return layer;
}

Sequential small_model() {
  return Sequential({Input({.shape = {6}}), Dense({.units = 8, .activation = "relu", .name = "a"}),
                     Dense({.units = 3, .name = "b"})});
}

struct Case {
  const char* name;
  Any<Layer> layer;
  Tensor x;
};

std::vector<Case> cases() {
  const Tensor indices({2, 3}, std::vector<double>{0, 3, 6, 2, 2, 5});
  return {{"Dense", Dense({.units = 5}), random_inputs({4, 9})},
          {"EinsumDense first", EinsumDense({.equation = "abc,cde->abde", .output_shape = {-1, 2, 3}}),
           random_inputs({2, 3, 6})},
          {"EinsumDense last", EinsumDense({.equation = "ab,cb->ac", .output_shape = {5}}), random_inputs({3, 6})},
          {"Embedding", Embedding({.input_dim = 7, .output_dim = 5}), indices.cast(DType::int32)},
          {"Conv2D", Conv2D({.filters = 3, .kernel_size = {2}}), random_inputs({2, 5, 5, 4})},
          {"LSTM", LSTM({.units = 4}), random_inputs({2, 3, 5})}};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fake_quantize)

BOOST_AUTO_TEST_CASE(conversion_keeps_predictions) {
  for (const char* mode : {"int8", "int4/4", "int4/-1"}) {
    for (Case& one : cases()) {
      BOOST_TEST_CONTEXT(one.name << " " << mode) {
        const Tensor floats = call(one.layer, one.x);
        const Any<Layer> plain = clone(one.layer);
        one.layer->quantize(std::string("fake_") + mode);
        const Tensor y = call(one.layer, one.x);
        BOOST_TEST(largest_difference(y, floats) > 0);
        plain->quantize(mode);
        one.layer->quantize(mode);
        for (const auto& [path, weight] : plain->named_weights()) {
          BOOST_TEST(weight_of(*one.layer, path).value().equal(weight.value()), path);
        }
        if (std::string(mode) == "int8" && !has_int8_products()) continue;  // computes with float inputs
        BOOST_TEST(largest_difference(call(one.layer, one.x), y) < 2e-6);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(kernels_stay_floats_and_trainable) {
  const Dense layer = dense_of(Tensor({2, 1}, std::vector<double>{1, 0.3}), "fake_int8_from_float32");
  const Variable kernel = weight_of(layer, "kernel");
  BOOST_TEST(!kernel.quantized());
  BOOST_TEST(kernel.trainable());
  BOOST_TEST((kernel.dtype() == DType::float32));
  BOOST_TEST((layer.dtype_policy().fake_quantization() == QuantizationMode::int8));
  BOOST_TEST((layer.dtype_policy().quantization_mode() == QuantizationMode::none));
  BOOST_TEST(layer.dtype_policy().source().name() == "float32");
}

BOOST_AUTO_TEST_CASE(gradients_pass_straight_through) {
  Dense layer = dense_of(Tensor({2, 1}, std::vector<double>{1, 0.3}), "fake_int8_from_float32");
  const Tensor x({1, 2}, std::vector<double>{0.7, -2});
  const auto result = value_and_grad(layer, [&] { return sum(layer(Value(x))); });
  // The gradient of the kernel are the rounded inputs: 0.7 / 2 * 127 = 44.45.
  const std::vector<double> g = result.gradients.front().value.tensor().to_doubles();
  BOOST_TEST(std::abs(g[0] - 44 * 2 / 127.0) < 1e-6);
  BOOST_TEST(std::abs(g[1] + 2) < 1e-6);
}

BOOST_AUTO_TEST_CASE(steps_clip_gradients_and_learn_as_lsq) {
  Dense layer = dense_of(Tensor({2, 1}, std::vector<double>{1, 1}), "fake_int8/learned_from_float32");
  const Variable step = weight_of(layer, "kernel_inputs_step");
  BOOST_TEST(step.trainable());
  step.assign(Tensor::scalar(0.01, DType::float32));
  const Tensor x({1, 2}, std::vector<double>{0.123, 5});  // 12.3 steps, and clipped at 127
  const auto result = value_and_grad(layer, [&] { return sum(layer(Value(x))); });
  double of_step = 0;
  for (const auto& one : result.gradients) {
    if (one.weight.id() == step.id()) of_step = one.value.tensor().item();
  }
  BOOST_TEST(std::abs(of_step - (-0.3 + 127) / std::sqrt(2 * 127.0)) < 1e-4);
}

BOOST_AUTO_TEST_CASE(nan_and_infinity_stay_nan) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (const char* policy : {"fake_int8_from_float32", "fake_int8/static_from_float32"}) {
    Dense layer = dense_of(Tensor({2, 1}, std::vector<double>{1, 1}), policy);
    if (has_weight(layer, "kernel_inputs_step")) {
      weight_of(layer, "kernel_inputs_step").assign(Tensor::scalar(0.01, DType::float32));
    }
    const Tensor x({3, 2}, std::vector<double>{std::nan(""), 1, inf, 1, 1, 1});
    const std::vector<double> y = layer(Value(x)).tensor().to_doubles();
    BOOST_TEST(std::isnan(y[0]));
    BOOST_TEST(std::isnan(y[1]));
    BOOST_TEST(std::abs(y[2] - 2) < 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(observed_ranges_move_in_training_and_become_scales) {
  for (const char* policy : {"float32", "mixed_bfloat16"}) {
    BOOST_TEST_CONTEXT(policy) {
      Sequential model = small_model();
      model.to(policy);
      model.quantize("fake_int8", {.activations = "static"});
      const Tensor x = random_inputs({16, 6}), y = random_inputs({16, 3}, 2), floats = model.predict(x);
      BOOST_TEST(weight_of(model, "a/kernel_inputs_step").value().item() == 0);
      BOOST_TEST(model.summary_text().find(", fake_int8/static") != std::string::npos);
      model.compile({.optimizer = SGD(0.05), .loss = "mse"});
      model.fit(x, y, {.epochs = 3, .verbose = 0});
      const double step = weight_of(model, "a/kernel_inputs_step").value().item();
      BOOST_TEST(step > 0);
      const Tensor rounded = model.predict(x);
      BOOST_TEST(weight_of(model, "a/kernel_inputs_step").value().item() == step);  // inference does not observe
      model.quantize("int8");
      BOOST_TEST(!has_weight(model, "a/kernel_inputs_step"));
      BOOST_TEST(std::abs(weight_of(model, "a/kernel_inputs_scale").value().item() * step - 1) < 1e-6);
      BOOST_TEST(model.trainable_weights().size() == 2U);
      BOOST_TEST(largest_difference(model.predict(x), rounded) < (std::string(policy) == "float32" ? 1e-5 : 0.05));
    }
  }
}

BOOST_AUTO_TEST_CASE(batches_of_zeros_start_no_range) {
  Sequential model = small_model();
  model.quantize("fake_int8", {.activations = "static"});
  model.compile({.optimizer = SGD(0.05), .loss = "mse"});
  const Tensor x = random_inputs({16, 6}), y = random_inputs({16, 3}, 2);
  model.fit(Tensor({16, 6}), y, {.epochs = 1, .verbose = 0});
  BOOST_TEST(weight_of(model, "a/kernel_inputs_step").value().item() == 0);
  check_part<ValueError>("have no range yet", [&] { model.quantize("int8"); });
  model.fit(x, y, {.batch_size = 16, .epochs = 1, .verbose = 0});
  const double step = weight_of(model, "a/kernel_inputs_step").value().item(),
               most = max(abs(Value(x))).tensor().item();
  BOOST_TEST(std::abs(step - most / 127) < 1e-6);
}

BOOST_AUTO_TEST_CASE(projections_train_with_accumulated_gradients_and_convert) {
  const Value in = Input({.shape = {5, 6}});
  const Value y = MultiHeadAttention({.num_heads = 2, .key_dim = 4, .name = "attention"})(in, in);
  Model model({in}, {Dense({.units = 3, .name = "head", .dtype = "fake_int4/4_from_float32"})(y)});
  model.quantize("fake_int8", {.filters = "attention/.*"});
  const Tensor x = random_inputs({8, 5, 6}), target = random_inputs({8, 5, 3}, 2);
  const Tensor before = weight_of(model, "attention/query/kernel").value();
  model.compile({.optimizer = Adam({.learning_rate = 0.01, .gradient_accumulation_steps = 2}), .loss = "mse"});
  model.fit(x, target, {.batch_size = 2, .epochs = 2, .verbose = 0});
  BOOST_TEST(!weight_of(model, "attention/query/kernel").value().equal(before));
  const Tensor rounded = model.predict(x);
  model.quantize("int8", {.filters = "attention/.*"});
  check_part<ValueError>("was trained for int4/4; got int8", [&] { model.quantize("int8", {.filters = "head"}); });
  model.quantize("int4/4", {.filters = "head"});
  BOOST_TEST(weight_of(model, "attention/query/kernel").quantized());
  if (has_int8_products()) BOOST_TEST(largest_difference(model.predict(x), rounded) < 1e-5);
}

BOOST_AUTO_TEST_CASE(learned_ranges_start_with_calibrate) {
  Sequential model = small_model();
  model.quantize("fake_int8", {.activations = "learned"});
  const Tensor x = random_inputs({16, 6}), y = random_inputs({16, 3}, 2);
  model.compile({.optimizer = Adam(0.01), .loss = "mse"});
  check_part<ValueError>("learned ranges of kernel need calibrate() before training",
                         [&] { model.fit(x, y, {.epochs = 1, .verbose = 0}); });
  calibrate(model, {x});
  const double before = weight_of(model, "a/kernel_inputs_step").value().item();
  BOOST_TEST(before > 0);
  model.fit(x, y, {.epochs = 3, .verbose = 0});
  const double after = weight_of(model, "a/kernel_inputs_step").value().item();
  BOOST_TEST(after != before);
  BOOST_TEST(after > 0);
  const Tensor rounded = model.predict(x);
  model.quantize("int8");
  BOOST_TEST(weight_of(model, "a/kernel_inputs_scale").value().item() > 0);
  BOOST_TEST(largest_difference(model.predict(x), rounded) < 1e-5);
}

BOOST_AUTO_TEST_CASE(files_restore_the_rounding) {
  const Folder folder;
  Sequential model = small_model();
  model.quantize("fake_int8", {.filters = "a", .activations = "static"});
  const Tensor x = random_inputs({16, 6}), y = random_inputs({16, 3}, 2);
  model.compile({.optimizer = SGD(0.05), .loss = "mse"});
  model.fit(x, y, {.epochs = 2, .verbose = 0});
  model.save(folder.path("m.mezzo"));
  Any<Model> loaded = load_model(folder.path("m.mezzo"));
  BOOST_TEST(loaded->predict(x).equal(model.predict(x)));
  BOOST_TEST(loaded->train_on_batch(x, y)["loss"] == model.train_on_batch(x, y)["loss"]);
  BOOST_TEST(loaded->predict(x).equal(model.predict(x)));
  model.save_weights(folder.path("w.safetensors"));
  Sequential other = small_model();
  other.quantize("fake_int8", {.filters = "a", .activations = "static"});
  other.load_weights(folder.path("w.safetensors"));
  BOOST_TEST(other.predict(x).equal(model.predict(x)));
  Sequential twin = clone(model);
  BOOST_TEST(twin.predict(x).equal(model.predict(x)));
  twin.quantize("int8", {.filters = "a"});
  BOOST_TEST(weight_of(model, "a/kernel").trainable());
  check_part<ValueError>("Keras has no quantization-aware training; quantize() first, or save as .mezzo",
                         [&] { model.save_weights(folder.path("m.weights.h5")); });
  check_part<ValueError>("Keras has no dtype policy \"fake_int8/static_from_float32\"",
                         [&] { model.save(folder.path("m.keras")); });
}

BOOST_AUTO_TEST_CASE(wrong_combinations_are_refused) {
  Sequential model = small_model();
  model.quantize("fake_int8", {.activations = "static"});
  check_part<ValueError>("quantize: layers must not be quantized already", [&] { model.quantize("fake_int8"); });
  check_part<ValueError>("was trained for int8/static; got int4/128", [&] { model.quantize("int4"); });
  check_part<ValueError>("was trained for int8/static; got int8",
                         [&] { model.quantize("int8", {.activations = "dynamic"}); });
  check_part<ValueError>("have no range yet: train, or call calibrate()", [&] { model.quantize("int8"); });
  check_part<ValueError>("must not be rounded in training (fake_int8/static); quantize() it first",
                         [&] { model.enable_lora({.targets = "a", .rank = 2}); });
  check_part<NameError>("", [] { Policy("fake_float8x_from_float32"); });
  check_part<NameError>("activations", [&] { small_model().quantize("int8", {.activations = "learned"}); });
}

BOOST_AUTO_TEST_SUITE_END()
