// Storage of variables and optimizer states: options of optimizers in the training of models.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <cstring>

#include <mezzo/training/step/step_runner.hpp>

#include "small.hpp"
#include "support/folder.hpp"
#include "support/layers.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using detail::StepRunner;

namespace {

HostBatch batch_of(std::int64_t size) {
  std::vector<float> x;
  std::vector<std::int64_t> y;
  for (std::int64_t i = 0; i < size; ++i) {
    for (std::uint64_t k = 0; k < 4; ++k)
      x.push_back(unit_float(philox(1, static_cast<std::uint64_t>(i), k)[0]) - 0.5F);
    y.push_back(i % 3);
  }
  return {{{"x", Tensor({size, 4}, x)}, {"y", Tensor({size}, y), Role::target}}, size};
}

/// A model of 4 inputs, 8 hidden units and 3 outputs; its batch normalization is in float32 under every policy.
struct Layers {
  Sequential in(const char* policy, const Any<Optimizer>& optimizer) const {
    seed_everything(3);
    Sequential model({first, norm, last}, {.dtype = policy});
    model.compile({.optimizer = optimizer, .loss = SparseCategoricalCrossentropy({.from_logits = true})});
    return model;
  }

  Dense first{{.units = 8, .activation = "relu"}};
  BatchNormalization norm;
  Dense last{{.units = 3}};
};

Sequential model_of(const char* policy, const AdamWOptions& options) { return Layers().in(policy, AdamW(options)); }

/// Training of a model on one batch.
struct Training {
  Training(const char* policy, const AdamWOptions& options, const detail::RunOptions& how = {})
      : Training(model_of(policy, options), how) {}
  explicit Training(const Sequential& what, const detail::RunOptions& how = {}) : model(what), runner(model, how) {
    runner.rehearse(Stage::fit, batch);
    runner.configure(false);
  }
  Training& steps(int count) {
    for (int i = 0; i < count; ++i) runner.run(Stage::fit, batch);
    return *this;
  }

  HostBatch batch = batch_of(6);
  Sequential model;
  StepRunner runner;
};

const detail::VariableState& kernel_of(const Layer& model) { return *model.weights()[0].state(); }

/// True if any number is halfway above a bfloat16 with last bit 0: SplitFloat rounds it up, a cast rounds it down.
bool halfway(const Tensor& x) {
  bool found = false;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, x.data<float>() + i, sizeof bits);
    found |= (bits & 0x1ffffU) == 0x8000U;
  }
  return found;
}

/// Bytes per parameter of the first kernel: value, remainder and compute copies, without the gradient.
double bytes_of_kernel(const Sequential& model) {
  const detail::VariableState& kernel = kernel_of(model);
  std::size_t bytes = kernel.value.bytes() + (kernel.remainder ? kernel.remainder->value.bytes() : 0);
  const ComputeCopies& copies = detail::training_state(const_cast<Sequential&>(model)).plans.arena()->copies;
  for (std::size_t i = 0; i < copies.size(); ++i) {
    if (copies[i].variable.lock().get() == &kernel) bytes += copies[i].bytes;
  }
  return static_cast<double>(bytes) / static_cast<double>(kernel.value.size());
}

/// Bytes per parameter of the optimizer slots of the first kernel.
double bytes_of_slots(const Training& training) {
  const Optimizer& optimizer = *detail::training_state(const_cast<Sequential&>(training.model)).optimizers[0].optimizer;
  double bytes = 0;
  for (const auto& slot : optimizer.state()->slots.at(0).values) bytes += static_cast<double>(slot->value.bytes());
  return bytes / static_cast<double>(kernel_of(training.model).value.size());
}

std::string refusal(const char* policy, const AdamWOptions& options) {
  return refused<ValueError>([&] { Training(policy, options).steps(1); });
}

struct Way {
  const char* policy;
  AdamWOptions options;
};
const std::vector<Way> ways{{"mixed_bfloat16", {.split_master_weights = true}},
                            {"bfloat16", {.stochastic_rounding = true}},
                            {"bfloat16", {.kahan_summation = true}},
                            {"float16", {.kahan_summation = true}},
                            {"mixed_bfloat16", {.split_master_weights = true, .state_dtype = DType::bfloat16}},
                            {"bfloat16", {.stochastic_rounding = true, .state_dtype = DType::bfloat16}}};

}  // namespace

BOOST_AUTO_TEST_SUITE(kept_variables)

BOOST_AUTO_TEST_CASE(split_masters_equal_float32_masters_bit_for_bit) {
  Training whole("mixed_bfloat16", {.learning_rate = 0.01});
  Training split("mixed_bfloat16", {.learning_rate = 0.01, .split_master_weights = true});
  for (int i = 0; i < 100; ++i) {
    whole.steps(1);
    split.steps(1);
    BOOST_TEST_REQUIRE(changed_since(values_of(whole.model), split.model) == "", "step " << i);
    bool any = false;
    for (const Variable& weight : whole.model.trainable_weights()) any |= halfway(weight.value());
    if (any) break;  // from here on the two models compute with different bfloat16 numbers
  }
  BOOST_TEST(kernel_of(split.model).remainder != nullptr);
  BOOST_TEST(kernel_of(whole.model).remainder == nullptr);
}

BOOST_AUTO_TEST_CASE(tables_of_embeddings_are_split) {
  const auto trained = [](bool split) {
    seed_everything(3);
    Sequential model({Embedding({.input_dim = 50, .output_dim = 8}), Flatten(), Dense({.units = 3})},
                     {.dtype = "mixed_bfloat16"});
    model.compile({.optimizer = AdamW({.learning_rate = 0.01, .split_master_weights = split}),
                   .loss = SparseCategoricalCrossentropy({.from_logits = true})});
    Tensor x({12, 4}, DType::int32), y({12}, DType::int32);
    for (std::int32_t i = 0; i < 48; ++i) x.mutable_data<std::int32_t>()[i] = i * 7 % 50;
    for (std::int32_t i = 0; i < 12; ++i) y.mutable_data<std::int32_t>()[i] = i % 3;
    model.fit(x, y, {.batch_size = 4, .epochs = 2, .verbose = 0, .shuffle = false});
    BOOST_TEST((kernel_of(model).remainder != nullptr) == split);
    return model;
  };
  BOOST_TEST(changed_since(values_of(trained(true)), trained(false)) == "");
}

BOOST_AUTO_TEST_CASE(bytes_per_parameter) {
  const auto bytes = [](const Way& way) {
    Training training(way.policy, way.options);
    training.steps(2);
    return std::vector<double>{bytes_of_kernel(training.model), bytes_of_slots(training)};
  };
  const auto are = [](double kernel, double slots) { return std::vector<double>{kernel, slots}; };
  BOOST_TEST(bytes({"float32", {}}) == are(4, 8));
  BOOST_TEST(bytes({"mixed_bfloat16", {}}) == are(6, 8));
  BOOST_TEST(bytes({"mixed_bfloat16", {.split_master_weights = true}}) == are(4, 8));
  BOOST_TEST(bytes({"bfloat16", {}}) == are(2, 8));
  BOOST_TEST(bytes({"bfloat16", {.stochastic_rounding = true}}) == are(2, 8));
  BOOST_TEST(bytes({"bfloat16", {.kahan_summation = true}}) == are(2, 8 + 2));
  BOOST_TEST(bytes({"bfloat16", {.stochastic_rounding = true, .state_dtype = DType::bfloat16}}) == are(2, 4));
}

BOOST_AUTO_TEST_CASE(who_looks_at_a_split_master_sees_float32) {
  const Layers layers;
  Sequential model = layers.in("mixed_bfloat16", AdamW({.split_master_weights = true}));
  Training(model).steps(3);
  const Variable kernel = model.weights()[0];
  BOOST_TEST((kernel.dtype() == DType::float32));
  BOOST_TEST((kernel.state()->value.dtype() == DType::bfloat16));
  const auto trained = values_of(model);
  BOOST_TEST(!kernel.value().equal(kernel.value().cast(DType::bfloat16).cast(DType::float32)));

  const Folder folder;
  model.save_weights(folder.path("weights.safetensors"));
  const Tensor x = batch_of(6).fields[0].tensor;
  const Tensor predicted = model.predict(x);
  kernel.assign(Tensor(kernel.shape()));
  BOOST_TEST(kernel.value().equal(Tensor(kernel.shape())));
  BOOST_TEST(!model.predict(x).equal(predicted));
  model.load_weights(folder.path("weights.safetensors"));
  BOOST_TEST(changed_since(trained, model) == "");
  BOOST_TEST(model.predict(x).equal(predicted));
  BOOST_TEST(changed_since(trained, clone(model)) == "");

  // A float32 layer computes with the whole master, not with its high half.
  Sequential same = model_of("float32", {});
  same.build({6, 4});
  for (std::size_t i = 0; i < same.weights().size(); ++i) same.weights()[i].assign(model.weights()[i].value());
  Sequential wide = layers.in("float32", "adam");
  BOOST_TEST(wide.predict(x).equal(same.predict(x)));
  BOOST_TEST(kernel.state()->remainder != nullptr);

  kernel.state()->convert(DType::bfloat16);
  BOOST_TEST((kernel.dtype() == DType::bfloat16));
  BOOST_TEST(kernel.value().equal(trained.at("dense/kernel").cast(DType::bfloat16)));
}

BOOST_AUTO_TEST_CASE(an_optimizer_that_does_not_split_finds_float32_again) {
  const Layers layers;
  Training(layers.in("mixed_bfloat16", AdamW({.split_master_weights = true}))).steps(2);
  const detail::VariableState& kernel = *layers.first.weights()[0].state();
  BOOST_TEST_REQUIRE(kernel.remainder != nullptr);
  const Tensor trained = kernel.numbers();
  Training(layers.in("mixed_bfloat16", SGD({.learning_rate = 0}))).steps(1);
  BOOST_TEST(kernel.remainder == nullptr);
  BOOST_TEST(kernel.value.equal(trained));
}

// Trains split masters, joins them, and splits them again: plans for one storage are not used for the other.
BOOST_AUTO_TEST_CASE(fits_go_on_with_split_masters) {
  Sequential once = model_of("mixed_bfloat16", {.split_master_weights = true});
  Training(once).steps(4);
  Sequential twice = model_of("mixed_bfloat16", {.split_master_weights = true});
  Training(twice).steps(2);
  Training(twice).steps(1);
  twice.weights()[0].state()->join();
  Training(twice).steps(1);
  BOOST_TEST(kernel_of(twice).remainder != nullptr);
  BOOST_TEST(changed_since(values_of(once), twice) == "");
}

BOOST_AUTO_TEST_CASE(variables_that_an_option_is_not_for_are_kept_as_they_are) {
  for (const Way& way : ways) {
    Training training(way.policy, way.options);
    const auto before = values_of(training.model);
    training.steps(2);
    const auto norm = training.model.get_layer("batch_normalization");
    for (const Variable& weight : norm.weights()) {
      BOOST_TEST((weight.state()->value.dtype() == DType::float32));
      BOOST_TEST(weight.state()->remainder == nullptr);
    }
    BOOST_TEST(changed_since(before, training.model).find("batch_normalization/gamma") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(eager_steps_equal_the_plans_bit_for_bit_without_fusion) {
  for (const Way& way : ways) {
    Training plan(way.policy, way.options, {.passes = {.fuse = false}});
    Training eager(way.policy, way.options, {.eager = true, .passes = {.fuse = false}});
    BOOST_TEST(changed_since(values_of(plan.steps(3).model), eager.steps(3).model) == "", way.policy);
  }
}

BOOST_AUTO_TEST_CASE(they_do_where_a_split_master_is_halfway_between_two_bfloat16s) {
  const auto trained = [](bool eager) {
    Training training("mixed_bfloat16", {.split_master_weights = true}, {.eager = eager, .passes = {.fuse = false}});
    training.steps(1);
    const Variable kernel = training.model.weights()[0];
    kernel.assign(Tensor({4, 8}, std::vector<float>(32, 0x1.01p0F)));
    BOOST_TEST(halfway(kernel.value()));
    return values_of(training.steps(1).model);
  };
  const auto plan = trained(false), eager = trained(true);
  for (const auto& [path, value] : plan) BOOST_TEST(value.equal(eager.at(path)), path);
}

BOOST_AUTO_TEST_CASE(runs_are_reproducible_and_seeds_differ) {
  const Way& way = ways.back();
  Training first(way.policy, way.options), second(way.policy, way.options), third(way.policy, way.options);
  const auto expected = values_of(first.steps(3).model);
  BOOST_TEST(changed_since(expected, second.steps(3).model) == "");
  seed_everything(4);
  BOOST_TEST(changed_since(expected, third.steps(3).model).find("dense/kernel") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_option_that_can_not_act_is_refused) {
  BOOST_TEST(refusal("float32", {.stochastic_rounding = true}) ==
             "[AdamW] stochastic_rounding acts on bfloat16 variables; none of 6 variables is");
  BOOST_TEST(refusal("float16", {.stochastic_rounding = true}) ==
             "[AdamW] stochastic_rounding acts on bfloat16 variables; got a float16 variable, for which there is "
             "kahan_summation");
  BOOST_TEST(refusal("mixed_bfloat16", {.kahan_summation = true}) ==
             "[AdamW] kahan_summation acts on bfloat16 and float16 variables; none of 6 variables is");
  for (const char* policy : {"float32", "bfloat16", "mixed_float16"}) {
    BOOST_TEST(refusal(policy, {.split_master_weights = true}) ==
               "[AdamW] split_master_weights acts on float32 variables that layers read in bfloat16, as under "
               "mixed_bfloat16; none of 6 variables is");
  }
  BOOST_TEST(refusal("float64", {.state_dtype = DType::bfloat16}) ==
             "[AdamW] state_dtype acts on slots of variables that are not float64; none of 6 variables is");
}

// Trains a weight from 1 to 1.5 by steps below half of the distance of neighbouring bfloat16 numbers.
BOOST_AUTO_TEST_CASE(plain_rounding_loses_small_updates_and_the_others_do_not) {
  const auto trained = [](const SGDOptions& options, const char* policy) {
    seed_everything(0);
    Sequential model({Dense({.units = 1, .use_bias = false, .kernel_initializer = Constant(1)})}, {.dtype = policy});
    model.compile({.optimizer = SGD(options), .loss = "mse"});
    StepRunner runner(model, {});
    const HostBatch batch{{{"x", column({1})}, {"y", column({1.5}), Role::target}}, 1};
    runner.rehearse(Stage::fit, batch);
    runner.configure(false);
    for (int i = 0; i < 3000; ++i) runner.run(Stage::fit, batch);
    return weight_of(model);
  };
  constexpr double rate = 2e-3;
  BOOST_TEST(trained({.learning_rate = rate}, "bfloat16") == 1);
  BOOST_TEST(std::abs(trained({.learning_rate = rate}, "float32") - 1.5) < 0.01);
  BOOST_TEST(std::abs(trained({.learning_rate = rate, .kahan_summation = true}, "bfloat16") - 1.5) < 0.01);
  // Random rounding by 1/128 up or down continues near the optimum.
  BOOST_TEST(std::abs(trained({.learning_rate = rate, .stochastic_rounding = true}, "bfloat16") - 1.5) < 0.05);
}

// Equal bits would add up: the rounding errors of a sum of both would not average out.
BOOST_AUTO_TEST_CASE(weights_of_one_name_are_rounded_by_different_bits) {
  const auto equal_after_a_step = [](const SGDOptions& options) {
    seed_everything(0);
    const DenseOptions unit{.units = 16, .use_bias = false, .kernel_initializer = Constant(1), .dtype = "bfloat16"};
    const Value x = Input({16});
    Dense first(unit), second(unit);
    Model model(x, first(x) + second(x));
    model.compile({.optimizer = SGD(options), .loss = "mse"});
    model.fit(Tensor({4, 16}, std::vector<float>(64, 1)), Tensor({4, 16}), {.epochs = 1, .verbose = 0});
    const auto weights = model.weights();
    return weights[0].value().equal(weights[1].value());
  };
  BOOST_TEST(equal_after_a_step({.learning_rate = 1e-4}));
  BOOST_TEST(!equal_after_a_step({.learning_rate = 1e-4, .stochastic_rounding = true}));
}

BOOST_AUTO_TEST_SUITE_END()
