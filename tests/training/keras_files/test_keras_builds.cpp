// Models in Keras' files that no Input has built, but a call or build().
#include <mezzo/mezzo.hpp>

#include <cstdint>
#include <string>

#include <boost/test/unit_test.hpp>

#include "support/folder.hpp"
#include "support/kernels.hpp"

namespace keras_builds_layers {

using namespace mezzo;

struct BuiltOptions {
  std::int64_t units = 3;
  std::string name{};
  Policy dtype{};
};
inline void describe(Fields& fields, BuiltOptions& options) { fields("units", options.units); }

/// A layer with a Sequential.
class BuiltBlock : public Layer {
 public:
  explicit BuiltBlock(const BuiltOptions& options = {})
      : Layer("BuiltBlock", options), body_(sub("body", Sequential({Dense(options.units), Dense(options.units)}))) {}

 protected:
  Value call(const Value& x) override { return body_(x); }

 private:
  Sequential body_;
};

/// A model of one or two inputs.
class BuiltNet : public Model {
 public:
  explicit BuiltNet(const BuiltOptions& options = {})
      : Model("BuiltNet", options),
        first_(sub("first", Dense(options.units))),
        second_(sub("second", Dense(options.units))) {}

 protected:
  Values call_many(const Values& xs) override { return {first_(xs.front()) + second_(xs.back())}; }

 private:
  Dense first_, second_;
};

}  // namespace keras_builds_layers

using namespace mezzo;
using namespace keras_builds_layers;
using mezzo_tests::Folder;
using mezzo_tests::random_tensor;

namespace {

/// Shapes and dtypes of the inputs that a model was built for.
std::string build_of(const Model& model) {
  const std::string text = model.to_json();
  return text.substr(0, text.find("\"class_name\""));
}

/// Saves a built model in both formats, each time from the model that was read last.
void check_built_files(Model& model, const Tensors& x, const char* what) {
  const Folder folder;
  const Tensors expected = model.predict_all(x);
  model.save(folder.path("first.keras"));
  Any<Model> read = load_model(folder.path("first.keras"));
  for (const char* name : {"a.mezzo", "a.keras", "b.mezzo", "b.keras"}) {
    BOOST_TEST(read->predict_all(x)[0].equal(expected[0]), what << " before " << name);
    BOOST_TEST(build_of(*read) == build_of(model), what << " before " << name);
    read->save(folder.path(name));
    read = load_model(folder.path(name));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(keras_builds)

BOOST_AUTO_TEST_CASE(models_without_an_input_are_read_again) {
  const Tensor x = random_tensor({2, 8});
  const auto called = [&](Sequential model, const char* what) {
    model.predict(x);
    check_built_files(model, x, what);
  };
  called(Sequential({Dense(4), Dense(1)}), "called");
  called(Sequential({Sequential({Dense(4)}), Sequential({Sequential({Dense(3)}), Dense(1)})}), "nested");
  Sequential built({Dense(4), Dense(1)});
  built.build({-1, 8});
  check_built_files(built, x, "built");
  Sequential fitted({Dense(4), Dense(1)});
  fitted.compile({.optimizer = "adam", .loss = "mse"});
  fitted.fit(x, Tensor({2, 1}), {.verbose = 0});
  check_built_files(fitted, x, "fitted");
  const Tensor sequence = random_tensor({2, 3, 8});
  Sequential wrapped({TimeDistributed(Sequential({Dense(4)})), Bidirectional(LSTM(3)), Dense(1)});
  wrapped.predict(sequence);
  check_built_files(wrapped, sequence, "wrapped");
}

BOOST_AUTO_TEST_CASE(classes_of_the_program_are_built_again) {
  register_layer<BuiltBlock, BuiltOptions>("builds>BuiltBlock");
  register_model<BuiltNet, BuiltOptions>("builds>BuiltNet");
  const Tensor x = random_tensor({2, 8}), other = random_tensor({2, 5});
  Sequential model({BuiltBlock({.units = 2}), BuiltNet({.units = 4}), Dense(1)});
  model.predict(x);
  check_built_files(model, x, "in a Sequential");
  BuiltNet one({.units = 2}), two({.units = 2});
  one.predict(x);
  check_built_files(one, x, "one input");
  two.predict_all({x, other});
  check_built_files(two, {x, other}, "two inputs");
}

BOOST_AUTO_TEST_CASE(dtypes_of_inputs_are_kept) {
  const Tensor tokens({2, 3}, std::vector<std::int64_t>{1, 2, 3, 4, 5, 6});
  Sequential model({Embedding(10, 4), LSTM(3), Dense(1)});
  model.predict(tokens);
  check_built_files(model, tokens, "tokens");
}

// Keras' own build_config has shapes alone.
BOOST_AUTO_TEST_CASE(texts_of_keras_are_built) {
  const auto text = [](const char* build) {
    return std::string(R"({"module": "keras", "class_name": "Sequential", "registered_name": null, "config":
        {"name": "list", "layers": [{"module": "keras.layers", "class_name": "Dense", "registered_name": null,
        "config": {"name": "fc", "units": 3}}]}, "build_config": )") +
           build + "}";
  };
  BOOST_TEST(model_from_json(text(R"({"input_shape": [null, 4]})"))->count_params() == 15);
  for (const char* none : {"null", "{}", R"({"input_shape": null})", R"({"shapes_dict": {"a": [1, 4]}})"}) {
    BOOST_TEST(model_from_json(text(none))->weights().empty());
  }
  BOOST_CHECK_THROW(model_from_json(text(R"({"input_shape": ["x", 4]})")), ValueError);
  BOOST_CHECK_THROW(model_from_json(text(R"({"input_shape": [[4], null]})")), ValueError);
}

BOOST_AUTO_TEST_SUITE_END()
