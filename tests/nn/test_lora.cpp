// Adapters of layers: how they are enabled, chosen, merged and removed, and what is refused.
#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "support/layers.hpp"
#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::per_element;

namespace {

Sequential network() {
  Sequential model({Input({4}), Dense(6, {.activation = "relu", .name = "low"}), BatchNormalization({.name = "norm"}),
                    Sequential({Dense(6, {.name = "query"}), Dense(6, {.name = "value"})}, {.name = "block"}),
                    Dense(2, {.name = "head"})});
  return model;
}

std::string trained(const Layer& model) {
  std::string text;
  for (const auto& [path, weight] : model.named_weights()) {
    for (const Variable& one : model.trainable_weights()) {
      if (one.id() == weight.id()) text += (text.empty() ? "" : " ") + path;
    }
  }
  return text;
}

const LoraOptions with_update{.targets = "query|value", .rank = 2, .b_initializer = "glorot_uniform"};

Tensor inputs() { return random::normal({3, 4}, {.seed = 5}).tensor(); }

std::string enabling(Layer& layer, const LoraOptions& options) {
  return refused<Error>([&] { layer.enable_lora(options); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lora)

BOOST_AUTO_TEST_CASE(a_layer_freezes_its_kernel_alone) {
  Dense layer({.units = 3});
  layer.build({2, 4});
  const Value x(inputs());
  const Tensor before = layer(x).tensor();
  layer.enable_lora(2);
  BOOST_TEST(paths_of(layer) == "kernel bias lora_kernel_a lora_kernel_b");
  BOOST_TEST(trained(layer) == "bias lora_kernel_a lora_kernel_b");
  BOOST_TEST((layer.weights()[2].shape() == Shape{4, 2}));
  BOOST_TEST((layer.weights()[3].shape() == Shape{2, 3}));
  BOOST_TEST(layer(x).tensor().equal(before));  // B is zeros
}

BOOST_AUTO_TEST_CASE(a_model_freezes_everything_else) {
  Sequential model = network();
  model.enable_lora({.targets = "query|value", .rank = 2, .alpha = 16, .dropout = 0.1});
  BOOST_TEST(trained(model) ==
             "block/query/lora_kernel_a block/query/lora_kernel_b block/value/lora_kernel_a block/value/lora_kernel_b");
  model.get_layer("head").set_trainable(true);
  BOOST_TEST(model.trainable_weights().size() == 6U);
}

BOOST_AUTO_TEST_CASE(a_frozen_model_trains_its_adapters) {
  Sequential model = network();
  model.set_trainable(false);
  model.enable_lora(with_update);
  BOOST_TEST(model.trainable_weights().size() == 4U);
}

BOOST_AUTO_TEST_CASE(without_targets_all_layers_that_can_have_adapters_get_them) {
  Sequential model = network();
  model.enable_lora(2);
  BOOST_TEST(model.trainable_weights().size() == 8U);
}

BOOST_AUTO_TEST_CASE(functional_models_compute_with_adapters) {
  const Input x({4});
  const Value hidden = Dense(5, {.activation = "relu", .name = "first"})(x);
  Model model(x, Dense(2, {.name = "second"})(hidden));
  const Tensor before = model(Value(inputs())).tensor();
  model.enable_lora({.rank = 2, .b_initializer = "glorot_uniform"});
  const Tensor with = model(Value(inputs())).tensor();
  BOOST_TEST(largest_difference(before, with) > 1e-3);
  BOOST_TEST(largest_difference(model.predict(inputs()), with) < 1e-6);
  Model inner(model.inputs(), {model.get_layer("first").output()});
  const Tensor features = inner(Value(inputs())).tensor();
  merge_and_unload(model);
  BOOST_TEST(largest_difference(model(Value(inputs())).tensor(), with) < 1e-6);
  BOOST_TEST(largest_difference(inner(Value(inputs())).tensor(), features) < 1e-6);
  BOOST_TEST(model.trainable_weights().size() == 4U);
}

BOOST_AUTO_TEST_CASE(a_graph_made_with_adapters_does_not_keep_them) {
  Dense layer({.units = 3});
  layer.build({2, 4});
  layer.enable_lora(2, {.b_initializer = "glorot_uniform"});
  const Input x({4});
  Model model(x, layer(x));
  const Tensor with = model(Value(inputs())).tensor();
  BOOST_TEST(largest_difference(with, layer(Value(inputs())).tensor()) == 0);
  merge_and_unload(layer);
  BOOST_TEST(largest_difference(model(Value(inputs())).tensor(), with) < 1e-6);
}

BOOST_AUTO_TEST_CASE(merging_and_unmerging_are_exact) {
  Sequential model = network();
  model.enable_lora(with_update);
  const auto before = values_of(model);
  const Tensor apart = model.predict(inputs());
  merge_adapter(model);
  BOOST_TEST(changed_since(before, model) == "");
  const Tensor merged = model.predict(inputs());
  BOOST_TEST(largest_difference(merged, apart) < 1e-6);
  {
    const DisableAdapters base(model);
    BOOST_TEST(largest_difference(model.predict(inputs()), apart) > 1e-3);
  }
  BOOST_TEST(model.predict(inputs()).equal(merged));
  unmerge_adapter(model);
  BOOST_TEST(changed_since(before, model) == "");
  BOOST_TEST(model.predict(inputs()).equal(apart));
}

BOOST_AUTO_TEST_CASE(unloading_leaves_a_model_without_adapters) {
  Sequential model = network();
  const std::string paths = paths_of(model);
  model.enable_lora(with_update);
  const Tensor apart = model.predict(inputs());
  merge_and_unload(model);
  BOOST_TEST(paths_of(model) == paths);
  BOOST_TEST(largest_difference(model.predict(inputs()), apart) < 1e-6);
  BOOST_TEST(trained(model) == "block/query/kernel block/query/bias block/value/kernel block/value/bias");
  model.set_trainable(true);
  BOOST_TEST(model.trainable_weights().size() == 10U);
}

BOOST_AUTO_TEST_CASE(one_of_several_adapters_is_active) {
  Sequential model = network();
  const Tensor base = model.predict(inputs());
  model.enable_lora(with_update);
  const Tensor first = model.predict(inputs());
  LoraOptions other = with_update;
  other.name = "other";
  other.targets = "value";
  other.rank = 3;
  model.enable_lora(other);
  BOOST_TEST(adapter_names(model) == (std::vector<std::string>{"default", "other"}), per_element());
  BOOST_TEST(active_adapter(model) == "other");
  BOOST_TEST(trained(model) == "block/value/lora_kernel_a_other block/value/lora_kernel_b_other");
  const Tensor second = model.predict(inputs());
  BOOST_TEST(!second.equal(first));
  set_adapter(model, "default");
  BOOST_TEST(model.predict(inputs()).equal(first));
  BOOST_TEST(model.trainable_weights().size() == 4U);
  set_adapter(model, "other");
  BOOST_TEST(model.predict(inputs()).equal(second));
  delete_adapter(model, "other");
  BOOST_TEST(active_adapter(model) == "default");
  BOOST_TEST(model.predict(inputs()).equal(first));
  {
    const DisableAdapters off(model);
    BOOST_TEST(model.predict(inputs()).equal(base));
  }
  delete_adapter(model, "default");
  BOOST_TEST(adapter_names(model).empty());
  BOOST_TEST(model.predict(inputs()).equal(base));
}

BOOST_AUTO_TEST_CASE(clones_have_adapters_of_their_own) {
  Sequential model = network();
  model.enable_lora(with_update);
  const Tensor before = model.predict(inputs());
  Sequential copy = clone(model);
  BOOST_TEST(copy.predict(inputs()).equal(before));
  BOOST_TEST(trained(copy) == trained(model));
  for (const Variable& weight : copy.trainable_weights()) weight.assign(Tensor(weight.shape(), weight.dtype()));
  BOOST_TEST(!copy.predict(inputs()).equal(before));
  BOOST_TEST(model.predict(inputs()).equal(before));
  delete_adapter(copy, "default");
  BOOST_TEST(adapter_names(model).size() == 1U);
  const DisableAdapters off(model);
  Sequential base = clone(model);
  BOOST_TEST(active_adapter(base) == "");
  BOOST_TEST(base.predict(inputs()).equal(model.predict(inputs())));
}

BOOST_AUTO_TEST_CASE(the_backward_pass_has_no_gradient_of_frozen_kernels) {
  Sequential model = network();
  model.compile({.optimizer = AdamW({.learning_rate = 0.01}), .loss = "mse"});
  model.enable_lora(with_update);
  const auto before = values_of(model);
  const auto [loss, gradients] = value_and_grad(model, [&] { return mean(square(model(Value(inputs())))); });
  BOOST_TEST(gradients.size() == 4U);
  model.fit(inputs(), Tensor({3, 2}, DType::float32), {.epochs = 2, .verbose = 0});
  BOOST_TEST(changed_since(before, model) == trained(model));
  std::int64_t states = 0;
  const Any<Optimizer> optimizer = model.compile_options()->optimizer;
  for (const Optimizer::Slots& slots : optimizer->state()->slots) {
    for (const auto& slot : slots.values) states += slot->value.size();
  }
  BOOST_TEST(states == 2 * 2 * 2 * (6 + 6));  // two moments of A and B of two layers
}

BOOST_AUTO_TEST_CASE(targets_must_match_layers_that_can_have_adapters) {
  Sequential model = network();
  const std::string valid = "; valid: low, block/query, block/value, head";
  BOOST_TEST(enabling(model, {.targets = "qkv", .rank = 2}) ==
             "[Sequential] enable_lora: targets must match paths of layers that can have adapters; got \"qkv\", which "
             "matches none" +
                 valid);
  BOOST_TEST(enabling(model, {.targets = "query|key", .rank = 2}) ==
             "[Sequential] enable_lora: targets must match paths of layers that can have adapters; got \"key\", which "
             "matches none" +
                 valid);
  BOOST_TEST(enabling(model, {.targets = "norm|query", .rank = 2}) ==
             "[Sequential] enable_lora: targets must match layers that can have adapters; \"norm\" matches \"norm\", a "
             "BatchNormalization" +
                 valid);
  BOOST_TEST(enabling(model, {.targets = "(", .rank = 2}).find("targets must be a regular expression; got \"(\"") !=
             std::string::npos);
  BOOST_TEST(adapter_names(model).empty());
  BatchNormalization norm;
  norm.build({2, 3});
  BOOST_TEST(enabling(norm, {.rank = 2}) ==
             "[BatchNormalization] enable_lora: the layer must be one that can have adapters, or contain one: Dense, "
             "EinsumDense, Embedding, ReversibleEmbedding, attention; got none");
}

BOOST_AUTO_TEST_CASE(options_out_of_range_are_refused) {
  Dense layer({.units = 3, .name = "fc"});
  BOOST_TEST(enabling(layer, {.rank = 2}) ==
             "[Dense \"fc\"] enable_lora: the layer must be built, by build() or a call; got one without weights");
  layer.build({2, 4});
  BOOST_TEST(enabling(layer, {}) == "[Dense \"fc\"] enable_lora: rank must be at least 1; got 0");
  BOOST_TEST(enabling(layer, {.rank = 2, .dropout = 1}) ==
             "[Dense \"fc\"] enable_lora: dropout must lie in [0, 1); got 1");
  BOOST_TEST(enabling(layer, {.rank = 2, .alpha = std::nan("")}) ==
             "[Dense \"fc\"] enable_lora: alpha must be finite; got nan");
  BOOST_TEST(enabling(layer, {.rank = 2, .name = "a/b"}) ==
             "[Dense \"fc\"] enable_lora: name of adapters must have letters, digits, \"_\" and \"-\" only; got "
             "\"a/b\"");
  BOOST_TEST(refused<ValueError>([&] { layer.enable_lora(2, {.rank = 3}); }) ==
             "[Dense \"fc\"] enable_lora: rank is given twice; got 2 and 3");
  layer.enable_lora(2);
  BOOST_TEST(
      enabling(layer, {.rank = 2}) ==
      "[Dense \"fc\"] enable_lora: the kernel has adapters \"default\" already; give others a name of their own");
  Dense bounded({.units = 3, .kernel_constraint = "non_neg"});
  bounded.build({2, 4});
  BOOST_TEST(enabling(bounded, {.rank = 2}) ==
             "[Dense] enable_lora: the kernel must have no constraint, which adapters would evade; got one");
}

BOOST_AUTO_TEST_CASE(functions_on_adapters_need_them) {
  Sequential model = network();
  BOOST_TEST(refused<ValueError>([&] { merge_adapter(model); }) ==
             "[Sequential] merge_adapter: the layer must have adapters; got none (call enable_lora() first)");
  BOOST_TEST(refused<ValueError>([&] { const DisableAdapters off(model); }).find("must have adapters") !=
             std::string::npos);
  model.enable_lora(with_update);
  BOOST_TEST(refused<NameError>([&] { set_adapter(model, "x"); }) ==
             "[Sequential] set_adapter: unknown adapters \"x\"; valid names: default");
  BOOST_TEST(refused<NameError>([&] { delete_adapter(model, "x"); }) ==
             "[Sequential] delete_adapter: unknown adapters \"x\"; valid names: default");
}

BOOST_AUTO_TEST_CASE(merged_adapters_are_neither_trained_nor_replaced) {
  Sequential model = network();
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.enable_lora(with_update);
  merge_adapter(model);
  const std::string text = refused<ValueError>([&] {
    model.fit(inputs(), Tensor({3, 2}, DType::float32), {.verbose = 0});
  });
  BOOST_TEST(text.find("adapters must not be merged in training, where they need gradients: call unmerge_adapter() "
                       "first") != std::string::npos,
             text);
  const Variable kernel = model.get_layer("block/query").weights().front();
  BOOST_TEST(refused<ValueError>([&] { kernel.assign(kernel.value()); }) ==
             "[Variable \"kernel\"] assign: adapters must not be merged; call unmerge_adapter() first");
  BOOST_TEST(refused<ValueError>([&] { delete_adapter(model, "default"); }).find("must not be merged") !=
             std::string::npos);
  LoraOptions other = with_update;
  other.name = "other";
  BOOST_TEST(enabling(model, other).find("has merged adapters; call unmerge_adapter() first") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_quantized_kernel_stays_frozen_without_its_adapters) {
  for (const char* mode : {"int8", "int4", "nf4"}) {
    BOOST_TEST_CONTEXT(mode) {
      Dense layer({.units = 3});
      layer.build({2, 4});
      layer.enable_lora(2);
      layer.quantize(mode);
      delete_adapter(layer, "default");
      BOOST_TEST(trained(layer) == "bias");
      Sequential model = network();
      model.enable_lora(with_update);
      model.quantize(mode);
      delete_adapter(model, "default");
      for (const Variable& weight : model.trainable_weights()) BOOST_TEST(!weight.quantized(), weight.name());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
