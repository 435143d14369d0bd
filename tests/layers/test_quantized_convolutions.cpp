// Conv2D with quantized kernels and inputs.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

#include <mezzo/compiler/inference/freeze.hpp>
#include <mezzo/core/cpu.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/mezzo.hpp>
#include <mezzo/nn/calibrate.hpp>
#include <mezzo/training/module/inference_graph.hpp>

#include "support/folder.hpp"
#include "support/runs.hpp"
#include "support/skip.hpp"
#include "support/tensors.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr std::int64_t channels = 16;

Conv2D conv_of(const Conv2DOptions& options) {
  Conv2D layer(options);
  layer.build({-1, 6, 5, channels});
  return layer;
}

Tensor images(std::int64_t count = 3) { return random_tensor({count, 6, 5, channels}, DType::float32, 7); }

std::int64_t products_of(Layer& layer, const Tensor& x) {
  Trace trace(Trace::Mode::graph);
  trace.output("y", layer(trace.input("x", Spec{x.shape(), x.dtype()})));
  return count_nodes(trace.graph(), "quantized_conv2d");
}

bool has_scale(const Layer& layer, const std::string& path) {
  for (const auto& [name, weight] : layer.named_weights()) {
    if (name == path) return true;
  }
  return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(quantized_convolutions)

// A convolution whose numbers are codes times powers of two has no rounding.
BOOST_AUTO_TEST_CASE(codes_are_multiplied_exactly) {
  if (!has_int8_products()) return skip("no products of 8-bit integers");
  Conv2D layer = conv_of({.filters = channels, .kernel_size = 3, .padding = "same", .use_bias = false});
  const auto whole = [](const Shape& shape, std::uint64_t seed) {
    Tensor x = random_tensor(shape, DType::int8, seed, -127, 128).cast(DType::float32);
    const std::int64_t each = x.size() / 3;
    for (std::int64_t i = 0; i < x.size(); i += each) x.mutable_data<float>()[i] = 127;  // the largest of each image
    return x;
  };
  const Tensor x = whole({3, 6, 5, channels}, 3);
  Tensor kernel = whole({3, 3, channels, channels}, 4);
  for (std::int64_t i = 0; i < channels; ++i) kernel.mutable_data<float>()[i] = 127;
  layer.set_weights({kernel});
  const Tensor expected = layer(x).tensor();
  layer.quantize("int8");
  BOOST_TEST(products_of(layer, x) == 1);
  const Tensor y = layer(x).tensor();
  for (std::int64_t i = 0; i < y.size(); ++i) {
    const double sum = expected.data<float>()[i];  // exact in float32
    BOOST_TEST(std::abs(y.data<float>()[i] - sum) <= 1e-6 * std::abs(sum));
  }
}

// Small kernels, groups and other codes have no faster product of integers.
BOOST_AUTO_TEST_CASE(other_convolutions_keep_floating_inputs) {
  const auto products = [](const Conv2DOptions& options, const std::string& mode, std::int64_t of_input = channels) {
    Conv2D layer(options);
    layer.build({-1, 6, 5, of_input});
    layer.quantize(mode);
    return products_of(layer, Tensor({2, 6, 5, of_input}));
  };
  const Conv2DOptions wide{.filters = 16, .kernel_size = 3};
  const std::int64_t one = has_int8_products() ? 1 : 0;
  BOOST_TEST(products(wide, "int8") == one);
  BOOST_TEST(products(wide, "int8/none") == 0);
  BOOST_TEST(products(wide, "int4") == 0);
  BOOST_TEST(products(wide, "int4/-1/dynamic") == 0);
  BOOST_TEST(products(wide, "int8", 3) == 0);
  BOOST_TEST(products({.filters = 8, .kernel_size = 3}, "int8") == 0);
  BOOST_TEST(products({.filters = 16, .kernel_size = 3, .groups = 2}, "int8", 32) == 0);
  BOOST_TEST(products(wide, "int8", 7280) == one);
  BOOST_TEST(products(wide, "int8", 7284) == 0);  // windows of 65556 terms
}

BOOST_AUTO_TEST_CASE(images_of_float64_stay_floating) {
  Conv2D layer = conv_of({.filters = channels, .kernel_size = 3, .dtype = "float64"});
  const Tensor x = images().cast(DType::float64), floats = layer(x).tensor();
  layer.quantize("int8");
  BOOST_TEST(products_of(layer, x) == 0);
  BOOST_TEST(largest_difference(layer(x).tensor(), floats) < 0.02);
}

// Images are rounded and clipped also on a CPU without products of integers.
BOOST_AUTO_TEST_CASE(static_images_are_clipped) {
  for (const char* policy : {"float32", "float64"}) {
    Conv2D layer = conv_of({.filters = channels, .kernel_size = 3, .dtype = policy});
    layer.quantize("int8", {.activations = "static"});
    const Tensor x = images();
    calibrate(layer, {x});
    const Value most = max(abs(Value(x))), wide = Value(x) * 3.0;
    const Tensor y = layer(wide).tensor();
    BOOST_TEST(largest_difference(y, layer(minimum(maximum(wide, -most), most)).tensor()) < 1e-5, policy);
    BOOST_TEST(largest_difference(y, (Value(layer(x)) * 3.0).tensor()) > 0.1, policy);
  }
}

BOOST_AUTO_TEST_CASE(static_scales_are_calibrated) {
  Sequential model({Input({.shape = {6, 5, 3}}), Conv2D({.filters = channels, .kernel_size = 1}),
                    Conv2D({.filters = channels, .kernel_size = 3}), Flatten(), Dense({.units = 2})});
  const Tensor x = random_tensor({4, 6, 5, 3}, DType::float32, 5);
  const Tensor floats = model(x).tensor();
  model.quantize("int8", {.activations = "static"});
  BOOST_TEST(!has_scale(model, "conv2d/kernel_inputs_scale"));
  BOOST_TEST(has_scale(model, "conv2d_1/kernel_inputs_scale"));
  check_throws<ValueError>("[Conv2D \"conv2d_1\"] static activations of kernel need calibrate() before the first call",
                           [&] { model(x); });
  calibrate(model, {x});
  BOOST_TEST(largest_difference(model(x).tensor(), floats) < 0.05);
  BOOST_TEST(largest_difference(model.predict(x), model(x).tensor()) < 1e-5);
}

BOOST_AUTO_TEST_CASE(images_with_nan_are_nan) {
  if (!has_int8_products()) return skip("no products of 8-bit integers");
  Conv2D layer = conv_of({.filters = channels, .kernel_size = 3});
  layer.quantize("int8");
  Tensor x = images();
  const Tensor before = layer(x).tensor();
  x.mutable_data<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  x.mutable_data<float>()[x.size() - 1] = std::numeric_limits<float>::infinity();
  const Tensor y = layer(x).tensor();
  const std::int64_t each = y.size() / 3;
  for (std::int64_t i = 0; i < y.size(); ++i) {
    const bool second = i / each == 1;
    BOOST_TEST((second ? y.data<float>()[i] == before.data<float>()[i] : std::isnan(y.data<float>()[i])));
  }
}

// A kernel that a layer around normalizes is floating: its codes alone would be another kernel.
BOOST_AUTO_TEST_CASE(normalized_kernels_are_floating) {
  const auto check = [](SpectralNormalization layer, const Tensor& x) {
    const Tensor floats = layer(x).tensor();
    layer.quantize("int8");
    const double most = max(abs(Value(floats))).item();
    BOOST_TEST(largest_difference(layer(x).tensor(), floats) < 0.02 * most);
  };
  check(SpectralNormalization(Conv2D({.filters = channels, .kernel_size = 3, .use_bias = false}), 10), images());
  check(SpectralNormalization(Dense({.units = channels, .use_bias = false}), 10),
        random_tensor({4, channels}, DType::float32, 3));
}

// A functional model, also of open sizes, computes with the form that the kernel has at its call.
BOOST_AUTO_TEST_CASE(functional_models_are_quantized_later) {
  const Tensor x = images();
  for (const Shape& shape : {Shape{6, 5, channels}, Shape{-1, -1, channels}}) {
    const Input in(shape);
    Model model(in, Conv2D({.filters = 16, .kernel_size = 3, .padding = "same"})(in));
    const Tensor floats = model(x).tensor();
    model.quantize("int8");
    const Tensor codes = model(x).tensor();
    BOOST_TEST(!codes.equal(floats));
    BOOST_TEST(largest_difference(codes, floats) < 0.05);
    BOOST_TEST(products_of(model, x) == (has_int8_products() ? 1 : 0));
  }
}

// Gradients of the inputs are those of the dequantized kernel.
BOOST_AUTO_TEST_CASE(gradients_go_through_the_dequantized_kernel) {
  Conv2D layer = conv_of({.filters = channels, .kernel_size = 3, .strides = 2, .padding = "same"});
  layer.quantize("int8");
  const Tensor x = images();
  const auto gradient = [&] { return grad([&](const Value& v) { return sum(layer(v)); })(Value(x)).tensor(); };
  const Tensor of_codes = gradient();
  Conv2D floats = conv_of({.filters = channels, .kernel_size = 3, .strides = 2, .padding = "same"});
  floats.set_weights({Value(layer.weights()[0]).tensor(), layer.weights()[1].value()});
  const Tensor expected = grad([&](const Value& v) { return sum(floats(v)); })(Value(x)).tensor();
  BOOST_TEST(largest_difference(of_codes, expected) < 1e-5);
}

// Frozen graphs move batch norm, residual and ReLU into the convolution of codes.
BOOST_AUTO_TEST_CASE(predictors_fold_norms_into_scales) {
  if (!has_int8_products()) return skip("no products of 8-bit integers");
  const Input in({6, 5, channels});
  const Value y = Conv2D({.filters = 16, .kernel_size = 3, .padding = "same", .use_bias = false})(in);
  Model model(in, ReLU()(Add()(Values{BatchNormalization()(y), in})));
  std::uint64_t seed = 20;
  for (const auto& [path, weight] : model.named_weights()) {
    if (path.find("batch_normalization") == std::string::npos) continue;
    weight.assign(random_tensor(weight.shape(), DType::float32, ++seed, 0.5, 1.5));
  }
  model.quantize("int8");
  const Tensor x = images();
  const Graph traced = detail::inference_graph(model, {{x.shape(), x.dtype()}});
  detail::FrozenConstants constants;
  const Graph frozen = detail::freeze(traced, constants);
  BOOST_TEST(largest_difference(run_compiled(frozen, {x})[0], run_compiled(traced, {x})[0]) < 1e-5);
  BOOST_TEST(count_nodes(frozen, "quantized_conv2d") == 1);
  for (const char* other : {"batch_norm", "add", "relu"}) BOOST_TEST(count_nodes(frozen, other) == 0, other);
}

// So do biases before the norm, static scales, bfloat16 and negative factors. A factor of 0 would divide a scale by 0.
BOOST_AUTO_TEST_CASE(norms_fold_with_biases_and_static_scales) {
  if (!has_int8_products()) return skip("no products of 8-bit integers");
  const Tensor x = images();
  for (const char* policy : {"float32", "mixed_bfloat16"}) {
    for (const char* activations : {"dynamic", "static"}) {
      for (const float gamma : {-1.5F, 0.0F}) {
        const Input in({6, 5, channels});
        const Value y = Conv2D({.filters = 16, .kernel_size = 3, .bias_initializer = "glorot_normal"})(in);
        Model model(in, BatchNormalization()(y));
        std::uint64_t seed = 40;
        for (const auto& [path, weight] : model.named_weights()) {
          if (path.find("batch_normalization") == std::string::npos) continue;
          Tensor numbers = random_tensor(weight.shape(), DType::float32, ++seed, 0.5, 1.5);
          if (path.find("gamma") != std::string::npos) numbers.mutable_data<float>()[3] = gamma;
          weight.assign(numbers);
        }
        model.to(policy);
        model.quantize("int8", {.activations = activations});
        if (std::string(activations) == "static") calibrate(model, {x});
        const Graph traced = detail::inference_graph(model, {{x.shape(), x.dtype()}});
        detail::FrozenConstants constants;
        const Graph frozen = detail::freeze(traced, constants);
        BOOST_TEST_CONTEXT(policy << ", " << activations << ", " << gamma) {
          const double most = std::string(policy) == "float32" ? 1e-5 : 0.06;
          BOOST_TEST(largest_difference(run_compiled(frozen, {x})[0], run_compiled(traced, {x})[0]) < most);
          BOOST_TEST(count_nodes(frozen, "quantized_conv2d") == 1);
          BOOST_TEST(count_nodes(frozen, "batch_norm") == (gamma == 0 ? 1 : 0));
        }
      }
    }
  }
}

// The rounding of the training is that of the codes.
BOOST_AUTO_TEST_CASE(prepared_convolutions_predict_as_quantized_ones) {
  if (!has_int8_products()) return skip("no products of 8-bit integers");
  for (const char* activations : {"dynamic", "static"}) {
    Sequential model({Input({.shape = {6, 5, channels}}), Conv2D({.filters = 16, .kernel_size = 3}), Flatten(),
                      Dense({.units = 2})});
    model.quantize("fake_int8", {.activations = activations});
    model.compile({.optimizer = "sgd", .loss = "mse"});
    const Tensor x = images();
    model.fit(x, Tensor({3, 2}), {.verbose = 0});
    const Tensor trained = model.predict(x);
    model.quantize("int8");
    BOOST_TEST(products_of(model, x) == 1);
    BOOST_TEST(largest_difference(model.predict(x), trained) < 1e-5);
  }
}

// Groups have no product of codes, so their inputs need no range.
BOOST_AUTO_TEST_CASE(convolutions_with_groups_have_no_range) {
  const Tensor x = random_tensor({2, 6, 5, 32}, DType::float32, 3);
  for (const char* activations : {"static", "learned"}) {
    Sequential model({Input({.shape = {6, 5, 32}}), Conv2D({.filters = 32, .kernel_size = 3, .groups = 2}), Flatten(),
                      Dense({.units = 2})});
    model.quantize("fake_int8", {.activations = activations});
    BOOST_TEST(!has_scale(model, "conv2d/kernel_inputs_step"));
    BOOST_TEST(has_scale(model, "dense/kernel_inputs_step"));
    calibrate(model, {x});
    model.compile({.optimizer = "sgd", .loss = "mse"});
    model.fit(x, Tensor({2, 2}), {.verbose = 0});
    const Tensor trained = model.predict(x);
    model.quantize("int8");
    BOOST_TEST(!has_scale(model, "conv2d/kernel_inputs_scale"));
    BOOST_TEST(products_of(model, x) == 0);
    BOOST_TEST(largest_difference(model.predict(x), trained) < 1e-5);
  }
  Conv2D layer({.filters = 32, .kernel_size = 3, .groups = 2, .dtype = "int8/static_from_float32"});
  layer(x);  // needs no calibrate()
  BOOST_TEST(layer.weights().size() == 3U);
}

// Files of 0.2.0 have ranges of the inputs of all convolutions.
BOOST_AUTO_TEST_CASE(unused_ranges_in_files_are_left_out) {
  const Folder folder;
  const auto make = [] {
    return Sequential(
        {Input({.shape = {6, 5, 32}}), Conv2D({.filters = 32, .kernel_size = 3, .groups = 2, .name = "conv"})});
  };
  Sequential model = make();
  model.quantize("fake_int8", {.activations = "static"});
  const auto with_range = [&](const std::string& name) {
    const SafetensorsFile file(folder.path(name));
    NamedTensors tensors = load_safetensors(folder.path(name));
    std::string kernel;
    for (const auto& [key, tensor] : tensors) {
      if (tensor.shape().size() == 4) kernel = key;
    }
    tensors.emplace_back(kernel + "_inputs_step", Tensor::scalar(0.1, DType::float32));
    save_safetensors(folder.path("older_" + name), tensors, file.metadata());
    return folder.path("older_" + name);
  };
  const Tensor x = random_tensor({2, 6, 5, 32}, DType::float32, 3), before = model.predict(x);
  model.save_weights(folder.path("w.safetensors"));
  model.save(folder.path("m.mezzo"));
  Sequential other = make();
  other.quantize("fake_int8", {.activations = "static"});
  const std::string weights = with_range("w.safetensors");
  other.load_weights(weights);
  BOOST_TEST(other.predict(x).equal(before));
  BOOST_TEST(load_model(with_range("m.mezzo"))->predict(x).equal(before));
  Sequential floats = make();
  BOOST_TEST(floats.load_weights(weights, {.strict = false}).unexpected_keys.size() == 1U);
}

BOOST_AUTO_TEST_CASE(files_restore_static_scales) {
  const Folder folder;
  const auto make = [] {
    Sequential model({Input({.shape = {6, 5, channels}}), Conv2D({.filters = channels, .kernel_size = 3})});
    model.quantize("int8", {.activations = "static"});
    return model;
  };
  const Tensor x = images();
  Sequential model = make();
  calibrate(model, {x});
  const Tensor before = model.predict(x);
  model.save(folder.path("m.mezzo"));
  BOOST_TEST(load_model(folder.path("m.mezzo"))->predict(x).equal(before));
  model.save_weights(folder.path("w.safetensors"));
  Sequential other = make();
  other.load_weights(folder.path("w.safetensors"));
  BOOST_TEST(other.predict(x).equal(before));
}

BOOST_AUTO_TEST_SUITE_END()
