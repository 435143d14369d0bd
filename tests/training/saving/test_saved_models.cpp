// Whole models: save(), load_model(), to_json(), model_from_json().
#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "support/child.hpp"
#include "support/file_size_limit.hpp"
#include "support/folder.hpp"
#include "support/refused.hpp"
#include "support/tensors.hpp"
#include "support/throws.hpp"
#include "training/saving/round_trip.hpp"

namespace saved_models_layers {

using namespace mezzo;

struct ScaleOptions {
  double initial = 1;
  std::string name{};
  Policy dtype{};
};
inline void describe(Fields& fields, ScaleOptions& options) { fields("initial", options.initial); }

/// A layer of a user.
class Scale : public Layer {
 public:
  explicit Scale(const ScaleOptions& options = {}) : Layer("Scale", options), initial_(options.initial) {}
  void build(const Shape& input) override {
    add_weight(gain_, {.shape = {input.back()}, .initializer = Constant(initial_)});
  }

 protected:
  Value call(const Value& x) override { return x * gain_; }

 private:
  double initial_;
  Variable gain_{"gain"};
};

struct PairOptions {
  std::int64_t units = 2;
  std::string name{};
  Policy dtype{};
};
inline void describe(Fields& fields, PairOptions& options) { fields("units", options.units); }

/// A model of a user.
class PairModel : public Model {
 public:
  explicit PairModel(const PairOptions& options = {})
      : Model("PairModel", options), first_(sub("first", Dense(options.units))), second_(sub("second", Dense(1))) {}

 protected:
  Value call(const Value& x) override { return second_(first_(x)); }

 private:
  Dense first_, second_;
};

/// A class that nobody registers.
class Wide : public Dense {
 public:
  using Dense::Dense;
};

}  // namespace saved_models_layers

using namespace mezzo;
using namespace mezzo_tests;
using namespace saved_models_layers;

namespace {

bool same(const Tensor& a, const Tensor& b) { return a.equal(b); }

Sequential network(const Policy& dtype = {}) {
  return Sequential({Input({4}), Dense(8, {.activation = "relu", .kernel_regularizer = L2(0.01), .name = "first"}),
                     BatchNormalization(), Dropout(0.25), Dense(2, {.dtype = "float32"})},
                    {.dtype = dtype});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(saved_models)

BOOST_AUTO_TEST_CASE(sequential_models) {
  Sequential model = network();
  const Any<Model> loaded = round_trip(model, numbers({3, 4}));
  BOOST_TEST(loaded->get_layer("first").name() == "first");
  BOOST_TEST(loaded->layers().size() == 4U);

  // Built by a call, and with a layer that occurs twice.
  const Dense twice(4, {.activation = "tanh"});
  Sequential other({twice, Flatten(), twice, Dense(1)}, {.name = "other"});
  other.predict(numbers({2, 4}));
  const Any<Model> read = round_trip(other, numbers({2, 4}));
  BOOST_TEST(read->name() == "other");
  BOOST_TEST(read->count_params() == other.count_params());

  const Folder folder;
  model.save(folder.path("a"));
  Sequential typed = load_model<Sequential>(folder.path("a"));
  typed.pop();
  BOOST_TEST(typed.layers().size() == 3U);
  BOOST_CHECK_THROW(load_model<PairModel>(folder.path("a")), ValueError);
}

BOOST_AUTO_TEST_CASE(functional_models) {
  // Two inputs and outputs, a shared layer, a nested model, ops between layers, a mode of a call.
  Input a({.shape = {4}, .name = "a"}), b({.shape = {4}, .name = "b"});
  Dense shared(3, {.activation = "tanh", .name = "shared"});
  Input inside({3});
  Model nested(inside, Dense(3, {.name = "in"})(Activation("sigmoid")(inside)), {.name = "nested"});
  const Value first = shared(a), second = shared(b);
  const Value joined = layers::concatenate({first + second * 2.0, relu(nested(second))});
  const Value noisy = Dropout(0.5)(joined, {.training = false});
  Model model({a, b}, {Dense(1, {.name = "price"})(noisy), softmax(nested(first))});
  const Any<Model> loaded = round_trip(model, {numbers({5, 4}, 1), numbers({5, 4}, 2)});
  BOOST_TEST(loaded->output_names() == model.output_names(), boost::test_tools::per_element());
  BOOST_TEST(loaded->weights().size() == model.weights().size());
  BOOST_TEST(loaded->named_weights().front().first == model.named_weights().front().first);

  // A part of it, made of its symbols.
  Model part(model.inputs()[1], model.get_layer("shared").output());
  Model head(model.inputs(), Dense(2, {.name = "head"})(model.outputs()[0]));
  round_trip(head, {numbers({5, 4}, 1), numbers({5, 4}, 2)});

  // In a Sequential, and attention with a mask.
  Input x({6, 8});
  MultiHeadAttention attention(2, 4);
  Model causal(x, attention(x, x, {.use_causal_mask = true}));
  round_trip(causal, numbers({2, 6, 8}));
  Sequential outer({causal, Flatten(), Dense(2)});
  outer.predict(numbers({2, 6, 8}));
  round_trip(outer, numbers({2, 6, 8}));
}

BOOST_AUTO_TEST_CASE(frozen_layers_and_policies) {
  Sequential model = network("mixed_bfloat16");
  model.get_layer("first").set_trainable(false);
  const Any<Model> loaded = round_trip(model, numbers({3, 4}));
  BOOST_TEST(loaded->trainable_weights().size() == model.trainable_weights().size());
  BOOST_TEST(loaded->dtype_policy().name() == "mixed_bfloat16");
  BOOST_TEST(loaded->to_json().find(R"("dtype":{"class_name":"DTypePolicy","config":{"name":"float32"}})") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(another_policy_in_another_process) {
  const Folder folder;
  const Tensor x = numbers({16, 4});
  Sequential model = network("mixed_bfloat16");
  model.save(folder.path("a.mezzo"));
  const Tensor y = model.predict(x);
  BOOST_TEST(in_child([&] {
    const Any<Model> loaded = load_model(folder.path("a.mezzo"), {.dtype = "float32"});
    const std::vector<double> before = y.to_doubles(), after = loaded->predict(x).to_doubles();
    bool good = loaded->dtype_policy().name() == "float32" && before.size() == after.size();
    // bfloat16 has 8 bits: three roundings of inputs, weights and results in each of two layers.
    for (std::size_t i = 0; i < before.size(); ++i) good = good && std::abs(before[i] - after[i]) <= 6 * 3.0 / 256;
    return good && !same(y, loaded->predict(x));
  }));
}

BOOST_AUTO_TEST_CASE(training_continues) {
  const Tensor x = numbers({40, 4}), y = numbers({40, 2}, 3);
  const auto trained = [&](bool interrupted) {
    seed_everything(3);
    Sequential model = network();
    model.compile({.optimizer = AdamW({.learning_rate = CosineDecay(1e-2, 100),
                                       .clipnorm = 1,
                                       .use_ema = true,
                                       .groups = {{.match = ".*bias", .weight_decay = 0}}}),
                   .loss = Huber({.delta = 0.5}),
                   .metrics = {"mae", losses::MeanSquaredError()},
                   .weighted_metrics = {metrics::MeanSquaredError({.name = "weighted"})}});
    model.fit(x, y, {.batch_size = 16, .epochs = 2, .verbose = 0});
    if (!interrupted) {
      model.fit(x, y, {.batch_size = 16, .epochs = 2, .verbose = 0});
      return std::make_pair(model.predict(x), model.evaluate(x, y));
    }
    const Folder folder;
    model.save(folder.path("a.mezzo"));
    seed_everything(9);
    const Any<Model> loaded = load_model(folder.path("a.mezzo"));
    loaded->fit(x, y, {.batch_size = 16, .epochs = 2, .verbose = 0});
    return std::make_pair(loaded->predict(x), loaded->evaluate(x, y));
  };
  const auto [whole, logs] = trained(false);
  const auto [resumed, resumed_logs] = trained(true);
  BOOST_TEST(same(whole, resumed));
  BOOST_TEST(logs.at("mae") == resumed_logs.at("mae"));
  BOOST_TEST(logs.at("weighted") == resumed_logs.at("weighted"));
}

BOOST_AUTO_TEST_CASE(compiled_state) {
  const Folder folder;
  const Tensor x = numbers({8, 4}), y = numbers({8, 2}, 3);
  Sequential model = network();
  const Any<Optimizer> sgd = SGD(0.5, {.momentum = 0.9});
  model.compile({.optimizer = sgd, .loss = "mse", .metrics = {"accuracy"}});
  sgd->set_learning_rate(0.125);
  sgd->exclude_from_weight_decay({.var_names = {"bias"}});
  model.fit(x, y, {.verbose = 0});
  model.save(folder.path("a"));
  Logs logs = load_model(folder.path("a"))->evaluate(x, y);
  BOOST_TEST(logs.count("accuracy") == 1U);
  BOOST_CHECK_THROW(load_model(folder.path("a"), {.compile = false})->evaluate(x, y), ValueError);
  model.save(folder.path("b"), {.compile = false});
  BOOST_CHECK_THROW(load_model(folder.path("b"))->evaluate(x, y), ValueError);
  BOOST_CHECK_THROW(model.save(folder.path("b"), {.overwrite = false}), FileError);

  // A function is refused, and what remains can be saved.
  model.compile({.loss = [](const Value& t, const Value& p) { return mean(abs(t - p), {.axes = {-1}}); }});
  const std::string text = refused<ValueError>([&] { model.save(folder.path("c")); });
  BOOST_TEST(text.find("the loss must be of mezzo or of a class that register_class() knows; got a function") !=
             std::string::npos);
  BOOST_TEST(text.find("{.compile = false}") != std::string::npos);
  BOOST_TEST(!std::filesystem::exists(folder.path("c")));
  model.save(folder.path("c"), {.compile = false});
}

BOOST_AUTO_TEST_CASE(classes_of_the_user) {
  register_layer<Scale, ScaleOptions>("test>Scale");
  register_layer<Scale, ScaleOptions>("test>Scale");
  register_model<PairModel, PairOptions>("test>PairModel");
  check_throws<NameError>(R"([register_class "test>Scale"] another layer has this name already)",
                          [] { register_layer<PairModel, PairOptions>("test>Scale"); });
  check_throws<NameError>(R"([register_class "Scale"] the name must have a package: "my>Scale")",
                          [] { register_layer<Scale, ScaleOptions>("Scale"); });
  Sequential model({Input({3}), Scale({.initial = 2, .name = "scale"}), Dense(1)});
  round_trip(model, numbers({2, 3}));
  BOOST_TEST(model.to_json().find(R"({"class_name":"test>Scale","config":{"dtype":null,"initial":2.0,)") !=
             std::string::npos);
  PairModel own({.units = 5});
  own.predict(numbers({2, 3}));
  round_trip(own, numbers({2, 3}));
}

BOOST_AUTO_TEST_CASE(refused_models) {
  const auto text = [](std::vector<Any<Layer>> layers) {
    layers.insert(layers.begin(), Input({3}));
    const Sequential model(layers);
    return refused<ValueError>([&] { model.to_json(); });
  };
  BOOST_TEST(text({Lambda([](const Value& x) { return x * 2; }, {.name = "double"})}) ==
             "[Lambda \"double\"] a Lambda can't be saved, since it holds a function of the program; derive a class "
             "from Layer and register it by register_layer(), or save only the weights by save_weights()");
  BOOST_TEST(text({Dense(2, {.activation = [](const Value& x) { return x; }})}) ==
             "[Dense] activation a function of the program can't be saved; use the name of an activation, or a layer "
             "of your own with register_layer()");
  BOOST_TEST(text({Dense(2, {.kernel_regularizer = [](const Value& w) { return sum(w); }})}) ==
             "[save] the regularizer must be of mezzo or of a class that register_class() knows; got a function or "
             "another class. Functions of a program can't be saved");
  BOOST_TEST(text({Wide(2)}) ==
             "[Dense] the class of this layer is not known; register it by register_layer<Dense, "
             "...>(\"my>Dense\") before saving");
  Input x({4});
  Model cumulative(x, cumsum(x, 1));
  BOOST_TEST(refused<ValueError>([&] { cumulative.to_json(); }) ==
             "[save] the op \"cumsum\" outside of layers can't be saved; put it into a layer of your own and register "
             "that by register_layer()");
  BOOST_CHECK_THROW(Dense(2, {.name = "\xff"}), NameError);
  const Folder folder;
  Sequential unbuilt({Dense(2)});
  BOOST_CHECK_THROW(unbuilt.save(folder.path("a")), ValueError);
}

BOOST_AUTO_TEST_CASE(models_whose_only_call_failed_are_not_saved) {
  const Folder folder;
  const std::string path = folder.path("half.mezzo");
  Sequential model({Dense(3), Conv2D(2, 3)});
  BOOST_CHECK_THROW(model(Value(Tensor({2, 4}))), ShapeError);  // the Dense layer has its weights
  const std::string text = "[model \"" + path +
                           "\"] the model must have a call without an error, after the last add(), before it is saved; "
                           "got none";
  BOOST_TEST(refused<ValueError>([&] { model.save(path); }) == text);
  BOOST_TEST(!std::filesystem::exists(path));
  const Tensor x = numbers({1, 8, 8, 4});
  const Tensor y = model.predict(x);
  model.save(path);
  BOOST_TEST(same(load_model(path)->predict(x), y));
  model.pop();  // the remaining layers are built
  model.save(path);
  BOOST_TEST(same(load_model(path)->predict(x), model.predict(x)));
  model.add(Dense(2));
  BOOST_TEST(refused<ValueError>([&] { model.save(path); }) == text);
}

BOOST_AUTO_TEST_CASE(models_that_would_get_other_weights_are_not_saved) {
  const Folder folder;
  for (const char* name : {"a.mezzo", "a.keras"}) {
    const std::string path = folder.path(name), where = "[model \"" + path + "\"] ";
    const auto text = [&](auto model) { return refused<ValueError>([&] { model.save(path); }); };
    Dense alone(3);
    alone(Value(Tensor({2, 4})));
    const std::string unbuilt = where + "the model must be built to be saved: by an Input, build() or a call";
    BOOST_TEST(text(Sequential({alone})) == unbuilt);
    Normalization adapted;
    adapted.adapt(numbers({8, 4}));
    BOOST_TEST(text(Sequential({adapted, Dense(1)})) == unbuilt);
    Sequential inner({Dense(4)});
    for (const Sequential& model :
         {Sequential({Input({4}), inner, Dense(1)}), Sequential({inner, Dense(1)}, {.name = "m"})}) {
      Sequential outer = model;
      outer.predict(numbers({2, 4}));
      inner.add(Dense(4));
      BOOST_TEST(text(outer) == where +
                                    "the model must have a call without an error, after the last add(), before it is "
                                    "saved; got none");
      BOOST_TEST(!std::filesystem::exists(path));
      outer.predict(numbers({2, 4}));
    }
  }
}

BOOST_AUTO_TEST_CASE(interrupted_saves_keep_the_file) {
  const Folder folder;
  Sequential model = network();
  const Tensor x = numbers({2, 4}), y = model.predict(x);
  model.save(folder.path("a"));
  model.get_layer("first").set_weights({numbers({4, 8}, 5), numbers({8}, 6)});
  {
    const FileSizeLimit limit(1000);
    BOOST_CHECK_THROW(model.save(folder.path("a")), FileError);
  }
  BOOST_TEST(same(load_model(folder.path("a"))->predict(x), y));
  BOOST_CHECK_THROW(model.save(folder.path("none/a")), FileError);
}

BOOST_AUTO_TEST_CASE(callbacks_save_models) {
  const Folder folder;
  const Tensor x = numbers({8, 4}), y = numbers({8, 2}, 3);
  Sequential model = network();
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.fit(x, y, {.epochs = 2, .verbose = 0, .callbacks = {ModelCheckpoint(folder.path("{epoch}.mezzo"))}});
  BOOST_TEST(same(load_model(folder.path("2.mezzo"))->predict(x), model.predict(x)));
  BOOST_TEST(!same(load_model(folder.path("1.mezzo"))->predict(x), model.predict(x)));
  const Any<Model> again = load_model(folder.path("1.mezzo"));
  again->fit(x, y, {.epochs = 2, .verbose = 0, .initial_epoch = 1});
  BOOST_TEST(same(again->predict(x), model.predict(x)));
  check_throws<ValueError>(
      "[ModelCheckpoint] filepath must end in .safetensors or the like with save_weights_only: a .mezzo or "
      ".keras file is a whole model; got \"a.mezzo\"",
      [] { ModelCheckpoint("a.mezzo", {.save_weights_only = true}); });
}

BOOST_AUTO_TEST_SUITE_END()
