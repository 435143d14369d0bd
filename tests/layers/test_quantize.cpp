#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

#include <mezzo/core/cpu.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/mezzo.hpp>
#include <mezzo/nn/calibrate.hpp>

#include "support/folder.hpp"
#include "support/recorded.hpp"
#include "support/skip.hpp"
#include "support/tensors.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Any<Layer> layer_of(const std::string& name) {
  if (name == "Dense") return Dense({.units = 5});
  if (name == "Embedding") return Embedding({.input_dim = 7, .output_dim = 5});
  if (name == "EinsumDense heads") {
    return EinsumDense({.equation = "abc,cde->abde", .output_shape = {-1, 2, 3}, .bias_axes = "de"});
  }
  if (name == "EinsumDense joined") {
    return EinsumDense({.equation = "abcd,cde->abe", .output_shape = {-1, 5}, .bias_axes = "e"});
  }
  return EinsumDense({.equation = "ab,cb->ac", .output_shape = {5}});
}

Variable weight_of(const Layer& layer, const std::string& path) {
  for (const auto& [name, weight] : layer.named_weights()) {
    if (name == path) return weight;
  }
  throw std::runtime_error("no weight " + path);
}

Tensor call(Any<Layer>& layer, const Tensor& x) { return layer(Value(x)).tensor(); }

// A Dense with recorded numbers.
Dense dense_of(const Tensor& kernel) {
  Dense layer({.units = kernel.shape()[1], .use_bias = false});
  layer.build({-1, kernel.shape()[0]});
  layer.set_weights({kernel});
  return layer;
}

const Tensor small_kernel({3, 2}, std::vector<double>{1, -2, 0.5, 0.25, -1, 0});

}  // namespace

BOOST_AUTO_TEST_SUITE(quantize)

BOOST_AUTO_TEST_CASE(codes_scales_and_outputs_are_those_of_keras) {
  for (const auto& [name, entry] : recorded("quantization").items()) {
    BOOST_TEST_CONTEXT(name) {
      const std::string mode = entry.at("mode");
      Any<Layer> layer = layer_of(name.substr(0, name.rfind(' ')));
      const Tensor x = recorded_tensor(entry.at("x"));
      call(layer, x);
      std::vector<Tensor> weights;
      for (const auto& weight : entry.at("weights")) weights.push_back(recorded_tensor(weight));
      layer->set_weights(weights);
      layer->quantize(mode);
      BOOST_TEST(layer->dtype_policy().name() == entry.at("policy").get<std::string>());
      for (const auto& [path, weight] : layer->named_weights()) {
        if (path == "bias") continue;
        const Tensor stored = weight.state()->value, expected = recorded_tensor(entry.at(path));
        BOOST_TEST_CONTEXT(path) {
          BOOST_TEST((stored.dtype() == expected.dtype()));
          BOOST_TEST(stored.to_doubles() == expected.to_doubles(), boost::test_tools::per_element());
        }
      }
      if (mode == "int8" && !has_int8_products()) continue;  // computes with floats
      const std::vector<double> y = call(layer, x).to_doubles(), expected = recorded_tensor(entry.at("y")).to_doubles();
      for (std::size_t i = 0; i < y.size(); ++i) BOOST_TEST(std::abs(y[i] - expected[i]) <= 1e-5);
    }
  }
}

BOOST_AUTO_TEST_CASE(values_are_codes_and_reads_are_numbers) {
  Dense layer = dense_of(small_kernel);
  layer.quantize("int8");
  const Variable kernel = weight_of(layer, "kernel"), scale = weight_of(layer, "kernel_scale");
  BOOST_TEST((kernel.shape() == Shape{3, 2}));
  BOOST_TEST((kernel.dtype() == DType::int8));
  BOOST_TEST(kernel.quantized());
  BOOST_TEST(!kernel.trainable());
  BOOST_TEST(kernel.value().to_doubles() == (std::vector<double>{127, -127, 63, 16, -127, 0}));
  const std::vector<double> numbers = Value(kernel).tensor().to_doubles();
  BOOST_TEST(std::abs(numbers[2] - 63 / 127.0) < 1e-6);
  BOOST_TEST(numbers[5] == 0);
  BOOST_TEST(layer.count_params() == 8);
  BOOST_TEST(layer.trainable_weights().empty());
}

BOOST_AUTO_TEST_CASE(int4_keeps_the_shape_and_half_the_bytes) {
  Dense layer = dense_of(small_kernel);
  layer.quantize("int4/-1");
  const Variable kernel = weight_of(layer, "kernel");
  BOOST_TEST((kernel.shape() == Shape{3, 2}));
  BOOST_TEST(kernel.value().to_doubles() == (std::vector<double>{7, -7, 3, 1, -7, 0}));
  BOOST_TEST(kernel.state()->value.bytes() == 3U);
  BOOST_TEST(layer.dtype_policy().name() == "int4/-1_from_float32");
}

BOOST_AUTO_TEST_CASE(weights_are_set_as_codes_or_as_floats) {
  for (const char* mode : {"int8", "int4/-1", "int4/2", "nf4/2"}) {
    BOOST_TEST_CONTEXT(mode) {
      Dense layer = dense_of(small_kernel), other = dense_of(Tensor({3, 2}));
      layer.quantize(mode);
      other.quantize(mode);
      other.set_weights(layer.get_weights());
      const Tensor x = random_tensor({4, 3}, DType::float32, 1);
      BOOST_TEST(other(x).tensor().equal(layer(x).tensor()));
      weight_of(other, "kernel").assign(Tensor({3, 2}));
      weight_of(other, "kernel").assign(small_kernel.cast(DType::float32));
      BOOST_TEST(other(x).tensor().equal(layer(x).tensor()));
    }
  }
  Dense layer = dense_of(small_kernel);
  layer.quantize("int4/-1");
  check_throws<ValueError>("[Variable \"kernel\"] codes must be in [-8, 7]; got 8", [&] {
    weight_of(layer, "kernel").assign(Tensor({3, 2}, std::vector<double>{8, 0, 0, 0, 0, 0}).cast(DType::int8));
  });
  check_throws<DTypeError>("[Variable \"kernel\"] assign: a quantized weight takes floats or int8 codes; got int32",
                           [&] {
                             weight_of(layer, "kernel").assign(Tensor({3, 2}, DType::int32));
                           });
}

BOOST_AUTO_TEST_CASE(rows_with_nan_or_infinity_are_nan) {
  for (const char* activations : {"dynamic", "none"}) {
    Dense layer = dense_of(small_kernel);
    layer.quantize("int8", {.activations = activations});
    const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    const Tensor x = Tensor({4, 3}, std::vector<double>{1, nan, 0, -inf, 1, 1, 0, 0, 0, 1, 2, 3}).cast(DType::float32);
    const std::vector<double> y = layer(x).tensor().to_doubles();
    BOOST_TEST_CONTEXT(activations) {
      BOOST_TEST(std::isnan(y[0]));
      BOOST_TEST(std::isnan(y[1]));
      BOOST_TEST(!std::isfinite(y[2]));
      BOOST_TEST(y[4] == 0);
      BOOST_TEST(y[5] == 0);
      BOOST_TEST(std::abs(y[6] - (-1)) < 0.05);
    }
  }
}

BOOST_AUTO_TEST_CASE(gradients_reach_the_inputs) {
  Dense layer = dense_of(small_kernel);
  layer.quantize("int8");
  Trace trace(Trace::Mode::eager, true);
  const Value x = trace.input("x", random_tensor({4, 3}, DType::float32, 1));
  const Tensor g = gradients(sum(layer(x)), {x}).front().tensor();
  const std::vector<double> numbers = Value(weight_of(layer, "kernel")).tensor().to_doubles();
  for (std::int64_t i = 0; i < 12; ++i) {
    const auto k = static_cast<std::size_t>(i % 3);
    BOOST_TEST(std::abs(g.data<float>()[i] - (numbers[2 * k] + numbers[2 * k + 1])) < 1e-5);
  }
}

BOOST_AUTO_TEST_CASE(integers_are_cast_as_in_products_of_floats) {
  for (const char* policy : {"float32", "mixed_bfloat16"}) {
    Dense layer({.units = 2, .dtype = policy});
    layer.build({-1, 3});
    layer.quantize("int8");
    const Tensor pixels({2, 3}, std::vector<std::uint8_t>{0, 1, 255, 3, 200, 7});
    BOOST_TEST(layer(pixels).tensor().equal(layer(pixels.cast(DType::float32)).tensor()), policy);
  }
}

BOOST_AUTO_TEST_CASE(filters_choose_layers) {
  Sequential model(
      {Dense({.units = 4, .name = "a"}), BatchNormalization({.name = "b"}), Dense({.units = 2, .name = "c"})});
  model.build({-1, 3});
  check_throws<ValueError>(
      "[Sequential] quantize: filters \"b\" must match layers with kernels or tables; got BatchNormalization \"b\"",
      [&] { model.quantize("int8", {.filters = "b"}); });
  check_throws<ValueError>(
      "[Sequential] quantize: filters \"z.*\" must match layers with kernels or tables; got no layer",
      [&] { model.quantize("int8", {.filters = "z.*"}); });
  model.quantize("int8", {.filters = "a|b"});
  BOOST_TEST(weight_of(model, "a/kernel").quantized());
  BOOST_TEST(!weight_of(model, "c/kernel").quantized());
  model.quantize("int4/2", {.filters = "c"});
  BOOST_TEST(weight_of(model, "c/kernel").state()->value.bytes() == 4U);
  check_throws<ValueError>(
      "[Sequential] quantize: layers must not be quantized already; got Dense \"a\" (int8_from_float32)",
      [&] { model.quantize("int8"); });
}

BOOST_AUTO_TEST_CASE(what_cannot_be_quantized_is_refused) {
  Dense unbuilt({.units = 2});
  check_throws<ValueError>("[Dense] quantize: needs a built layer with kernels or tables below it; found none",
                           [&] { unbuilt.quantize("int8"); });
  Dense layer = dense_of(small_kernel);
  check_throws<NameError>(
      "[Dense] unknown quantization \"float6\"; valid names: int8, int4, int4/128 (a scale for each block of 128 "
      "inputs), int4/-1 (for each output), nf4, nf4/64, gptq/4/128, gptq/4/-1, float8; rounding in training: "
      "fake_int8, fake_int4, fake_int4/128, fake_int4/-1",
      [&] { layer.quantize("float6"); });
  for (const char* mode : {"int4", "fake_int4", "nf4", "gptq/4"}) {
    const std::string kind = mode == std::string("fake_int4") ? "int4" : mode;
    for (const char* size : {"1073741825", "9223372036854775807", "99999999999999999999"}) {
      const std::string text = "block size of \"" + kind + "\" must be at most 1073741824; got " + size;
      check_throws<ValueError>(text,
                               [&] { Dense({.units = 4, .dtype = std::string(mode) + "/" + size + "_from_float32"}); });
    }
  }
  Dense widest({.units = 2, .dtype = "int4/1073741824_from_float32"});
  BOOST_TEST((widest(Value(Tensor({1, 3}))).shape() == Shape{1, 2}));
  check_throws<NameError>("[Dense] unknown activations \"rows\"; valid names: none, dynamic, static",
                          [&] { layer.quantize("int8", {.activations = "rows"}); });
  weight_of(layer, "kernel").assign(Tensor({3, 2}, std::vector<double>{1, 2, 3, INFINITY, 4, 5}));
  check_throws<ValueError>("[Dense] quantize: numbers of /kernel must be finite; got inf",
                           [&] { layer.quantize("int8"); });
  BOOST_TEST(!weight_of(layer, "kernel").quantized());
  Dense half({.units = 2, .dtype = "mixed_float16"});
  half.build({-1, 3});
  BOOST_CHECK_THROW(half.quantize("int8"), ValueError);
}

BOOST_AUTO_TEST_CASE(policies_quantize_when_built) {
  for (const char* name : {"int8_from_float32", "int8/none_from_mixed_bfloat16", "int4/2_from_float32"}) {
    Dense layer({.units = 2, .dtype = name});
    layer.build({-1, 3});
    BOOST_TEST(weight_of(layer, "kernel").quantized());
    BOOST_TEST(layer.dtype_policy().name() == name);
  }
  const Policy policy("int4/128_from_mixed_bfloat16");
  BOOST_TEST((policy.compute_dtype() == DType::bfloat16));
  BOOST_TEST((policy.variable_dtype() == DType::float32));
  BOOST_TEST((policy.quantization_mode() == QuantizationMode::int4));
  BOOST_TEST(policy.block_size() == 128);
  BOOST_TEST(policy.source().name() == "mixed_bfloat16");
  check_throws<ValueError>(
      "policy \"int8_from_mixed_float16\": int8 can't be computed in float16, whose range its scales exceed",
      [] { Policy("int8_from_mixed_float16"); });
  const PolicyMap map({.default_policy = "float32", .policies = {{"c", "int8_from_float32"}}});
  Sequential model({Dense({.units = 4, .name = "a"}), Dense({.units = 2, .name = "c"})}, {.dtype = map});
  model.build({-1, 3});
  BOOST_TEST(!weight_of(model, "a/kernel").quantized());
  BOOST_TEST(weight_of(model, "c/kernel").quantized());
}

BOOST_AUTO_TEST_CASE(clones_have_codes_and_scales_of_their_own) {
  Dense layer = dense_of(small_kernel);
  layer.quantize("int4/2");
  const Tensor x = random_tensor({4, 3}, DType::float32, 1);
  const Tensor before = layer(x).tensor();
  Dense copy = clone(layer);
  weight_of(layer, "kernel").assign(Tensor({3, 2}));
  BOOST_TEST(copy(x).tensor().equal(before));
  BOOST_TEST(!layer(x).tensor().equal(before));
}

BOOST_AUTO_TEST_CASE(functional_models_compute_with_the_form_of_the_call) {
  const Value in = Input({.shape = {6}});
  const Value h = Dense({.units = 8, .activation = "relu"})(in);
  Model model({in}, {EinsumDense({.equation = "ab,bc->ac", .output_shape = {3}, .bias_axes = "c"})(h)});
  const Tensor x = random_tensor({4, 6}, DType::float32, 1);
  const Tensor floats = model(x).tensor();
  model.quantize("int8");
  const Tensor codes = model(x).tensor();
  BOOST_TEST(largest_difference(codes, floats) < 0.1);
  BOOST_TEST(!codes.equal(floats));
}

BOOST_AUTO_TEST_CASE(files_have_codes_as_they_are) {
  const Folder folder;
  for (const char* mode : {"int8", "int4/-1", "int4/4", "nf4"}) {
    BOOST_TEST_CONTEXT(mode) {
      const auto make = [&] {
        Sequential model({Embedding({.input_dim = 9, .output_dim = 6, .name = "table"}),
                          LSTM({.units = 5, .name = "lstm"}), Dense({.units = 3, .name = "head"})});
        model(Tensor({2, 4}, DType::int32));
        model.quantize(mode);
        return model;
      };
      Sequential model = make(), other = make();
      const Tensor x = random_tensor({2, 4}, DType::int32, 1, 0, 9);
      BOOST_TEST(!other(x).tensor().equal(model(x).tensor()));
      model.save_weights(folder.path("model.safetensors"));
      other.load_weights(folder.path("model.safetensors"));
      BOOST_TEST(other(x).tensor().equal(model(x).tensor()));
    }
  }
}

BOOST_AUTO_TEST_CASE(static_scales_need_calibration) {
  Dense layer = dense_of(small_kernel);
  layer.quantize("int8", {.activations = "static"});
  BOOST_TEST(layer.dtype_policy().name() == "int8/static_from_float32");
  const Tensor x = Tensor({2, 3}, std::vector<double>{1, -2, 0.5, 0.25, 1, 1}).cast(DType::float32);
  check_throws<ValueError>("[Dense] static activations of kernel need calibrate() before the first call",
                           [&] { layer(x); });
  const Folder folder;
  check_throws<ValueError>("[Dense] save_weights: static activations of kernel need calibrate() first",
                           [&] { layer.save_weights(folder.path("a.safetensors")); });
  check_throws<ValueError>("[calibrate] run must call the layer of kernel for a product; it got no input",
                           [&] { calibrate(layer, [] {}); });
  calibrate(layer, {x});
  BOOST_TEST(std::abs(weight_of(layer, "kernel_inputs_scale").value().item() - 127 / 2.0) < 1e-4);
  const std::vector<double> y = layer(x).tensor().to_doubles();
  BOOST_TEST(std::abs(y[0] - (1 - 1 - 0.5)) < 0.05);
  Dense floats = dense_of(small_kernel);
  check_throws<ValueError>("[calibrate] the layer must have weights with static activations; found none",
                           [&] { calibrate(floats, {x}); });
  const Tensor bad = Tensor({1, 3}, std::vector<double>{1, NAN, 0}).cast(DType::float32);
  check_throws<ValueError>("[calibrate] inputs of kernel must be finite; got nan", [&] { calibrate(layer, {bad}); });
  check_throws<ValueError>("[calibrate] inputs of kernel must have elements; got shape (0, 3)", [&] {
    calibrate(layer, {Tensor({0, 3})});
  });
  check_throws<ValueError>("[calibrate] inputs of kernel must have a number other than 0; got zeros alone", [&] {
    calibrate(layer, {Tensor({2, 3})});
  });
  BOOST_TEST(std::abs(weight_of(layer, "kernel_inputs_scale").value().item() - 127 / 2.0) < 1e-4);
}

// Also on a CPU without products of integers.
BOOST_AUTO_TEST_CASE(static_inputs_are_rounded_and_clipped) {
  for (const char* mode : {"int8/static", "int4/-1/static", "int4/2/static"}) {
    for (const std::int64_t rows : {2, 12}) {
      BOOST_TEST_CONTEXT(mode << " " << rows) {
        Dense layer = dense_of(small_kernel);
        layer.quantize(mode);
        const Tensor x = random_tensor({rows, 3}, DType::float32, 1);
        calibrate(layer, {x});
        const double scale = weight_of(layer, "kernel_inputs_scale").value().item();
        const Tensor wide = (Value(x) * 3.0).tensor(), numbers = Value(weight_of(layer, "kernel")).tensor();
        const Tensor y = layer(wide).tensor();
        for (std::int64_t i = 0; i < rows * 2; ++i) {
          double sum = 0;
          for (std::int64_t k = 0; k < 3; ++k) {
            const double code = std::nearbyint(wide.data<float>()[i / 2 * 3 + k] * scale);
            sum += std::min(std::max(code, -127.0), 127.0) / scale * numbers.data<float>()[k * 2 + i % 2];
          }
          BOOST_TEST(std::abs(y.data<float>()[i] - sum) < 1e-5);
        }
      }
    }
  }
}

// 127 * 127 * 140000 exceeds the largest int32.
BOOST_AUTO_TEST_CASE(long_sums_do_not_overflow) {
  for (const std::int64_t rows : {1, 9}) {
    Dense layer({.units = 1, .use_bias = false, .kernel_initializer = "ones"});
    const Tensor x({rows, 140000}, std::vector<double>(static_cast<std::size_t>(rows) * 140000, 1));
    layer.build(x.shape());
    layer.quantize("int8");
    BOOST_TEST(std::abs(layer(Value(x.cast(DType::float32))).tensor().to_doubles()[0] - 140000) <
               (rows == 1 ? 0.1 : 140));
  }
}

BOOST_AUTO_TEST_CASE(every_family_is_close_to_its_floats) {
  const auto check = [](Any<Layer> layer, const Shape& shape, double bound) {
    const Tensor x = random_tensor(shape, DType::float32, 1);
    const Tensor floats = call(layer, x);
    layer->quantize("int8");
    const Tensor codes = call(layer, x);
    BOOST_TEST(largest_difference(codes, floats) < bound, layer->state()->kind);
    BOOST_TEST(!codes.equal(floats), layer->state()->kind);
  };
  check(Conv2D({.filters = 4, .kernel_size = 3}), {2, 6, 6, 3}, 0.05);
  check(Conv1D({.filters = 4, .kernel_size = 3}), {2, 6, 3}, 0.05);
  check(Conv2DTranspose({.filters = 4, .kernel_size = 3}), {2, 6, 6, 3}, 0.05);
  check(DepthwiseConv2D({.kernel_size = 3}), {2, 6, 6, 3}, 0.05);
  check(SeparableConv2D({.filters = 4, .kernel_size = 3}), {2, 6, 6, 3}, 0.05);
  check(LSTM({.units = 4}), {2, 5, 3}, 0.05);
  check(GRU({.units = 4}), {2, 5, 3}, 0.05);
  check(SimpleRNN({.units = 4}), {2, 5, 3}, 0.05);
  MultiHeadAttention heads({.num_heads = 2, .key_dim = 4});
  const Tensor x = random_tensor({2, 5, 6}, DType::float32, 1);
  const Tensor floats = heads(x, x).tensor();
  heads.quantize("int8");
  BOOST_TEST(largest_difference(heads(x, x).tensor(), floats) < 0.05);
  ReversibleEmbedding table({.input_dim = 9, .output_dim = 6});
  const Tensor ids = random_tensor({2, 4}, DType::int32, 1, 0, 9);
  const Tensor rows = table(ids).tensor(), scores = table(Value(rows), {.reverse = true}).tensor();
  for (const char* mode : {"int8", "int4/4"}) {
    ReversibleEmbedding one = clone(table);
    one.quantize(mode);
    BOOST_TEST(largest_difference(one(ids).tensor(), rows) < 0.01);
    BOOST_TEST(largest_difference(one(Value(rows), {.reverse = true}).tensor(), scores) < 0.01);
  }
}

BOOST_AUTO_TEST_SUITE_END()
