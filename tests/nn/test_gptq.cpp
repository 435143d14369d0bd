#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <mezzo/mezzo.hpp>
#include <mezzo/nn/gptq_codes.hpp>
#include <mezzo/nn/gptq_dataset.hpp>

#include "support/folder.hpp"
#include "support/recorded.hpp"
#include "support/tensors.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Correlated numbers, with a part that all inputs share.
Tensor correlated(const Shape& shape, std::uint64_t seed) {
  Shape shared = shape;
  shared.back() = 1;
  return (Value(random_tensor(shape, DType::float32, seed)) * 0.3 + random_tensor(shared, DType::float32, seed + 1))
      .tensor();
}

Any<Layer> layer_of(const std::string& name) {
  if (name == "Dense") return Dense({.units = 24});
  if (name == "EinsumDense heads") return EinsumDense({.equation = "abc,cde->abde", .output_shape = {-1, 2, 6}});
  if (name == "EinsumDense rows") return EinsumDense({.equation = "...b,bc->...c", .output_shape = {12}});
  return Sequential({Dense({.units = 24, .activation = "tanh"}), LayerNormalization(), Dense({.units = 8})});
}

double error_of(const Tensor& y, const Tensor& expected) {
  double sum = 0;
  const std::vector<double> a = y.to_doubles(), b = expected.to_doubles();
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum / static_cast<double>(a.size()));
}

Sequential small_model() {
  Sequential model({Dense({.units = 4, .name = "a"}), Dense({.units = 3, .name = "b"})});
  model.build({-1, 6});
  return model;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gptq)

BOOST_AUTO_TEST_CASE(codes_are_those_of_keras) {
  for (const auto& [name, entry] : recorded("gptq").items()) {
    BOOST_TEST_CONTEXT(name) {
      const Tensor kernel = recorded_tensor(entry.at("kernel"));
      const std::int64_t group = entry.at("group_size"), inputs = kernel.shape()[0];
      const detail::GptqCodes made = detail::gptq_codes(kernel, recorded_tensor(entry.at("hessian")),
                                                        {.block_size = group > 0 ? group : inputs,
                                                         .symmetric = entry.at("symmetric"),
                                                         .activation_order = entry.at("activation_order")},
                                                        "kernel");
      BOOST_TEST(made.codes.to_doubles() == recorded_tensor(entry.at("codes")).to_doubles(),
                 boost::test_tools::per_element());
      BOOST_TEST(made.zero.to_doubles() == recorded_tensor(entry.at("zero")).to_doubles(),
                 boost::test_tools::per_element());
      const std::vector<double> scale = made.scale.to_doubles(),
                                of_keras = recorded_tensor(entry.at("scale")).to_doubles();
      BOOST_REQUIRE(scale.size() == of_keras.size());
      for (std::size_t i = 0; i < scale.size(); ++i) BOOST_TEST(std::abs(scale[i] - of_keras[i]) <= 1e-6);
    }
  }
}

BOOST_AUTO_TEST_CASE(outputs_differ_less_than_those_of_plain_codes) {
  seed_everything(0);
  struct Form {
    const char* plain;
    GPTQConfig config;
  };
  const std::vector<Form> forms{{"int4/128", {}},
                                {"int4/4", {.group_size = 4}},
                                {"int4/4", {.group_size = 4, .activation_order = true}},
                                {"int4/12", {.group_size = -1}}};
  for (const char* name : {"Dense", "EinsumDense heads", "EinsumDense rows", "Sequential"}) {
    for (const Form& form : forms) {
      BOOST_TEST_CONTEXT(name << " " << form.plain << " " << form.config.activation_order) {
        Any<Layer> exact = layer_of(name), plain = layer_of(name), made = layer_of(name);
        const Tensor x = correlated({64, 6, 12}, 3);
        const Tensor y = exact(Value(x)).tensor();
        for (Any<Layer>* layer : {&plain, &made}) {
          (*layer)(Value(x));
          (*layer)->set_weights(exact->get_weights());
        }
        plain->quantize(form.plain);
        GPTQConfig config = form.config;
        config.dataset = {x};
        made->quantize("gptq", config);
        const double most = name == std::string("Sequential") ? 1 : 0.9;  // of the plain error
        BOOST_TEST(error_of(made(Value(x)).tensor(), y) < most * error_of(plain(Value(x)).tensor(), y));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(products_with_codes_of_8_bits_differ_less) {
  seed_everything(0);
  const Tensor x = correlated({256, 12}, 3);
  Dense exact({.units = 24, .use_bias = false}), plain({.units = 24, .use_bias = false});
  Dense made({.units = 24, .use_bias = false});
  const Tensor y = exact(Value(x)).tensor();
  for (Dense* layer : {&plain, &made}) {
    layer->build({-1, 12});
    layer->set_weights(exact.get_weights());
  }
  plain.quantize("int8");
  made.quantize("gptq",
                GPTQConfig{.dataset = {x}, .weight_bits = 8, .num_samples = 256, .group_size = -1, .symmetric = true});
  BOOST_TEST(made.dtype_policy().name() == "int8_from_float32");
  const auto product = [&](const Dense& layer) { return matmul(x, layer.weights()[0]).tensor(); };  // of exact inputs
  BOOST_TEST(error_of(product(made), y) < 0.9 * error_of(product(plain), y));
}

BOOST_AUTO_TEST_CASE(attention_has_a_policy_of_the_form) {
  MultiHeadAttention layer({.num_heads = 2, .key_dim = 4});
  const Tensor x = correlated({8, 5, 12}, 1);
  const Tensor y = layer(Value(x), Value(x)).tensor();
  quantize_gptq(layer, [&] { layer(Value(x), Value(x)); }, {.group_size = 4});
  BOOST_TEST(layer.dtype_policy().name() == "gptq/4/4_from_float32");
  BOOST_TEST(error_of(layer(Value(x), Value(x)).tensor(), y) < 0.1);
}

BOOST_AUTO_TEST_CASE(the_result_has_the_form_of_plain_codes) {
  const Tensor x = correlated({16, 6}, 1);
  Sequential made = small_model(), plain = small_model();
  made.quantize("gptq", GPTQConfig{.dataset = {x}, .group_size = 2, .filters = "a"});
  BOOST_TEST(made.layers()[0]->dtype_policy().name() == "gptq/4/2_from_float32");
  BOOST_TEST(made.layers()[1]->dtype_policy().name() == "float32");
  plain.quantize("int4/2", {.filters = "a"});
  plain.set_weights(made.get_weights());
  BOOST_TEST(plain(Value(x)).tensor().equal(made(Value(x)).tensor()));
}

BOOST_AUTO_TEST_CASE(functional_models_and_other_layers) {
  const Value input = Input({.shape = {-1}, .dtype = DType::int32});
  const Value rows = Embedding({.input_dim = 9, .output_dim = 6})(input);
  Model model(input, Dense({.units = 3, .name = "head"})(rows));
  const Tensor x({4, 2}, std::vector<std::int32_t>{0, 1, 2, 3, 4, 5, 6, 7});
  const Tensor y = model(Value(x)).tensor();
  model.quantize("gptq", GPTQConfig{.dataset = {x}, .group_size = 2});
  BOOST_TEST(error_of(model(Value(x)).tensor(), y) < 0.1);
  std::vector<std::string> quantized;
  for (const auto& [path, weight] : model.named_weights()) {
    if (weight.quantized()) quantized.push_back(path);
  }
  BOOST_TEST(quantized == std::vector<std::string>{"head/kernel"}, boost::test_tools::per_element());
}

// A block takes the outputs of the quantized ones before it: as if each were quantized by itself, in this order.
BOOST_AUTO_TEST_CASE(blocks_get_inputs_of_quantized_blocks) {
  const Tensor x = correlated({64, 6}, 1);
  Sequential whole = small_model(), each = small_model();
  each.set_weights(whole.get_weights());
  whole.quantize("gptq", GPTQConfig{.dataset = {x}, .group_size = 2});
  for (const char* name : {"a", "b"}) {
    quantize_gptq(each, [&] { each(Value(x)); }, {.group_size = 2, .filters = name});
  }
  BOOST_TEST(whole.get_weights().size() == each.get_weights().size());
  for (std::size_t i = 0; i < whole.get_weights().size(); ++i) {
    BOOST_TEST(whole.get_weights()[i].equal(each.get_weights()[i]));
  }
}

// Both layers of a block get inputs of the floating block.
BOOST_AUTO_TEST_CASE(layers_of_a_block_are_quantized_at_once) {
  const auto make = [] {
    const auto block = [](const char* name) {
      return Sequential({Dense({.units = 6, .activation = "tanh"}), Dense({.units = 6})}, {.name = name});
    };
    Sequential model({block("first"), block("second")});
    model.build({-1, 6});
    return model;
  };
  const Tensor x = correlated({64, 6}, 1);
  Sequential whole = make(), each = make();
  each.set_weights(whole.get_weights());
  whole.quantize("gptq", GPTQConfig{.dataset = {x}, .group_size = 3});
  for (const char* name : {"first/.*", "second/.*"}) {
    quantize_gptq(each, [&] { each(Value(x)); }, {.group_size = 3, .filters = name});
  }
  // By layers: the second layer of a block gets other inputs.
  const std::vector<Tensor> a = whole.get_weights(), b = each.get_weights();
  bool same = true;
  for (std::size_t i = 0; i < a.size(); ++i) same = same && a[i].equal(b[i]);
  BOOST_TEST(!same);  // `filters` leave one block, whose layers are then blocks themselves
}

BOOST_AUTO_TEST_CASE(an_error_in_a_later_block_restores_the_ones_before) {
  Sequential model({Dense({.units = 4, .name = "a"}), Activation("exponential"), Dense({.units = 3, .name = "b"})});
  const Tensor x = (Value(correlated({64, 6}, 1)) * 200.0).tensor();  // the second layer gets infinity
  const Tensor y = model(Value(x)).tensor();
  const std::vector<Tensor> before = model.get_weights();
  check_throws<ValueError>("[quantize gptq] inputs of kernel must be finite; got inf",
                           [&] { model.quantize("gptq", GPTQConfig{.dataset = {x}}); });
  BOOST_TEST(model.layers()[0]->dtype_policy().name() == "float32");
  for (std::size_t i = 0; i < before.size(); ++i) BOOST_TEST(model.get_weights()[i].equal(before[i]));
  BOOST_TEST(model.trainable_weights().size() == 4U);
}

BOOST_AUTO_TEST_CASE(tokens_are_cut_into_windows) {
  const auto tokens = [](std::int64_t count) {
    Tensor out({count}, DType::int32);
    for (std::int64_t i = 0; i < count; ++i) out.mutable_data<std::int32_t>()[i] = static_cast<std::int32_t>(i);
    return out;
  };
  const std::vector<Tensor> batches =
      detail::gptq_batches({.dataset = {tokens(6), tokens(4)}, .num_samples = 3, .sequence_length = 4}, "");
  BOOST_REQUIRE(batches.size() == 1U);
  BOOST_TEST(batches[0].shape() == (Shape{3, 4}), boost::test_tools::per_element());
  BOOST_TEST(batches[0].to_doubles() == (std::vector<double>{0, 1, 2, 3, 3, 4, 5, 0, 0, 1, 2, 3}),
             boost::test_tools::per_element());
  BOOST_TEST(detail::gptq_batches({.dataset = {tokens(5)}, .sequence_length = 4}, "")[0].shape()[0] == 2);
  check_throws<ValueError>("[x] dataset must have at least sequence_length = 512 tokens; got 6",
                           [&] { detail::gptq_batches({.dataset = {tokens(6)}}, "[x]"); });
  check_throws<ValueError>("[x] dataset must have batches alone or tokens alone; got 1 arrays of tokens among 2", [&] {
    detail::gptq_batches({.dataset = {tokens(6), Tensor({2, 3})}}, "[x]");
  });
  BOOST_TEST(detail::gptq_batches({.dataset = {Tensor({2, 3}), Tensor({5, 3})}, .num_samples = 4}, "")[1].shape()[0] ==
             2);
}

BOOST_AUTO_TEST_CASE(layers_are_built_under_the_policy) {
  const Tensor x = correlated({8, 6}, 1);
  for (const char* policy : {"gptq/4/2_from_float32", "gptq/4/-1_from_mixed_bfloat16"}) {
    Dense layer({.units = 3, .dtype = policy});
    BOOST_TEST(layer(Value(x)).shape() == (Shape{8, 3}), boost::test_tools::per_element());
    BOOST_TEST(layer.weights().size() == 4U);  // kernel, scale, zero point, bias
  }
  check_throws<ValueError>(
      "[Embedding] gptq is for Dense, EinsumDense with a kernel that begins with the axes of the sum, and projections "
      "of "
      "attention; give this layer another policy",
      [&] { Embedding({.input_dim = 3, .output_dim = 4, .dtype = "gptq/4/2_from_float32"}).build({-1}); });
  for (const char* name : {"gptq/8/-1", "gptq", "gptq/4/0", "gptq/3/128"}) {
    check_throws<ValueError>(
        fmt::format("\"{}\" must be written as gptq/4/128 (4 bits, a scale for each group of 128 inputs) or gptq/4/-1",
                    name),
        [&] { Policy(fmt::format("{}_from_float32", name)); });
  }
  check_throws<ValueError>("activations must be none with gptq, as in Keras; got dynamic",
                           [] { Policy("gptq/4/64/dynamic_from_float32"); });
}

BOOST_AUTO_TEST_CASE(files_hold_codes_of_gptq) {
  const Folder folder;
  const Tensor x = correlated({16, 6}, 1);
  for (const std::int64_t group_size : {2, 4, -1}) {
    Sequential model({Input({6}), Dense({.units = 5, .name = "a"}), Dense({.units = 3, .name = "b"})});
    model.quantize("gptq", GPTQConfig{.dataset = {x}, .group_size = group_size});
    const Tensor y = model.predict(x);
    model.save(folder.path("a.mezzo"));
    BOOST_TEST(load_model(folder.path("a.mezzo"))->predict(x).equal(y));
    model.save_weights(folder.path("a.safetensors"));
    const std::string policy = fmt::format("gptq/4/{}_from_float32", group_size);
    Sequential other({Input({6}), Dense({.units = 5, .name = "a", .dtype = policy}),
                      Dense({.units = 3, .name = "b", .dtype = policy})});
    other.load_weights(folder.path("a.safetensors"));
    BOOST_TEST(other.predict(x).equal(y));
    BOOST_TEST(clone(model).predict(x).equal(y));
  }
}

BOOST_AUTO_TEST_CASE(inputs_that_are_always_zero_are_rounded_alone) {
  Dense layer({.units = 3});
  layer.build({-1, 6});
  layer.quantize("gptq", GPTQConfig{.dataset = {Tensor({8, 6}, DType::float32)}});
  BOOST_TEST(layer.dtype_policy().name() == "gptq/4/128_from_float32");
}

BOOST_AUTO_TEST_CASE(missing_and_bad_inputs_are_errors) {
  Sequential model = small_model();
  const std::vector<Tensor> before = model.get_weights();
  for (const char* mode : {"gptq", "gptq/4/2"}) {
    check_throws<ValueError>(
        fmt::format(
            "[Sequential] quantize: \"{}\" needs calibration data: call quantize(\"gptq\", GPTQConfig{{.dataset "
            "= ...}})",
            mode),
        [&] { model.quantize(mode); });
  }
  check_throws<ValueError>(
      "[quantize gptq] run must call the layer of a/kernel for a product, outside of steps; it got no input (leave it "
      "out by filters)",
      [&] { quantize_gptq(model, [] {}); });
  check_throws<ValueError>("[quantize gptq] dataset must have batches of the model's input, or tokens; got none",
                           [&] { model.quantize("gptq", GPTQConfig{}); });
  check_throws<ValueError>("[quantize gptq] a GPTQConfig is for the mode \"gptq\"; got \"int4\"",
                           [&] { model.quantize("int4", GPTQConfig{}); });
  for (const double number : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const Tensor x = Tensor({1, 6}, std::vector<double>{1, 2, number, 4, 5, 6}).cast(DType::float32);
    check_throws<ValueError>(fmt::format("[quantize gptq] inputs of kernel must be finite; got {}", number),
                             [&] { model.quantize("gptq", GPTQConfig{.dataset = {x}}); });
  }
  const Tensor one = Tensor({1, 6}, std::vector<double>{1, 2, 3, 4, 5, 6}).cast(DType::float32);
  check_throws<ValueError>(
      "[quantize gptq] the Hessian of a/kernel must be positive definite; use more inputs or a larger hessian_damping",
      [&] { model.quantize("gptq", GPTQConfig{.dataset = {one}, .hessian_damping = 0}); });
  for (std::size_t i = 0; i < before.size(); ++i) BOOST_TEST(model.get_weights()[i].equal(before[i]));
}

BOOST_AUTO_TEST_CASE(what_has_no_form_is_refused) {
  Sequential model = small_model();
  const auto with = [&](const GPTQConfig& config) {
    return [&model, config] {
      quantize_gptq(
          model,
          [&] {
            model(Value(correlated({8, 6}, 1)));
          },
          config);
    };
  };
  check_throws<ValueError>("[quantize gptq] weight_bits must be 4 or 8; got 3", with({.weight_bits = 3}));
  check_throws<ValueError>("[quantize gptq] group_size must be positive, or -1 for all inputs; got 0",
                           with({.group_size = 0}));
  check_throws<ValueError>("[quantize gptq] num_samples and sequence_length are for a dataset; run has the inputs",
                           with({.num_samples = 16}));
  check_throws<ValueError>("[quantize gptq] hessian_damping must be in [0, 1]; got 2", with({.hessian_damping = 2}));
  check_throws<ValueError>(
      "[quantize gptq] weight_bits = 8 needs group_size = -1 and symmetric = true, since codes of 8 bits have one "
      "scale "
      "for each output; got group_size = 128 and symmetric = false",
      with({.weight_bits = 8}));
  model.enable_lora({.targets = "b", .rank = 2});
  check_throws<ValueError>("[quantize gptq] layers must have no adapters; got those of Dense \"b\"", with({}));
  with({.filters = "a"})();
  check_throws<ValueError>(
      "[quantize gptq] quantize: layers must not be quantized already; got Dense \"a\" (gptq/4/128_from_float32)",
      with({}));
  Conv1D convolution({.filters = 2, .kernel_size = 3});
  convolution.build({-1, 8, 4});
  check_throws<ValueError>("[quantize gptq] needs a Dense, EinsumDense or attention layer; found none", [&] {
    convolution.quantize("gptq", GPTQConfig{.dataset = {correlated({2, 8, 4}, 1)}});
  });
  check_throws<ValueError>("[quantize gptq] dataset must be empty, since run has the inputs; got 1 arrays",
                           with({.dataset = {correlated({8, 6}, 1)}}));
}

BOOST_AUTO_TEST_SUITE_END()
