// Parts of Keras' files: operations, texts of to_json(), skip_mismatch, suffixes, classes of models.
#include <mezzo/mezzo.hpp>

#include <filesystem>

#include <boost/test/unit_test.hpp>

#include "support/captured.hpp"
#include "support/folder.hpp"
#include "support/kernels.hpp"
#include "support/refused.hpp"

namespace {

using namespace mezzo;
using mezzo_tests::Folder;
using mezzo_tests::random_tensor;
using mezzo_tests::refused;
namespace files = std::filesystem;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A functional model of Keras with one operation on an input of 4 numbers.
std::string with_operation(const std::string& name, const std::string& config, const std::string& args) {
  const std::string symbol =
      R"({"class_name": "__keras_tensor__", "config": {"shape": [null, 4], "dtype": "float32", "keras_history": ["x", 0, 0]}})";
  return R"({"module": "keras.src.models.functional", "class_name": "Functional", "registered_name": "Functional",
             "config": {"name": "functional", "trainable": true, "input_layers": ["x", 0, 0],
                        "output_layers": ["op", 0, 0], "layers": [
             {"module": "keras.layers", "class_name": "InputLayer", "name": "x", "inbound_nodes": [],
              "config": {"batch_shape": [null, 4], "dtype": "float32", "name": "x"}, "registered_name": null},
             {"module": "keras.src.ops.numpy", "class_name": ")" +
         name + R"(", "name": "op", "registered_name": ")" + name + R"(", "config": )" + config +
         R"(, "inbound_nodes": [{"args": [)" + symbol + args + R"(], "kwargs": {}}]}]}})";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(keras_parts)

BOOST_AUTO_TEST_CASE(operations_are_computed_and_saved) {
  const Folder folder;
  const auto model = model_from_json(with_operation("Clip", R"({"x_min": -0.5, "x_max": 0.25, "name": "op"})", ""));
  const Tensor x({1, 4}, std::vector<float>{-1, -0.25, 0.125, 2});
  const Tensor y({1, 4}, std::vector<float>{-0.5, -0.25, 0.125, 0.25});
  BOOST_TEST(model->predict(x).equal(y));
  for (const char* name : {"a.mezzo", "a.keras"}) {
    model->save(folder.path(name));
    const auto again = load_model(folder.path(name));
    BOOST_TEST(again->predict(x).equal(y));
    again->save(folder.path(name));
    BOOST_TEST(load_model(folder.path(name))->to_json() == model->to_json());
  }
  const auto item = model_from_json(with_operation("GetItem", R"({"name": "op"})",
                                                   R"(, {"class_name": "__tuple__", "config": {"value": [
           {"class_name": "__ellipsis__", "config": {}},
           {"class_name": "__slice__", "config": {"start": null, "stop": null, "step": -2}}]}})"));
  BOOST_TEST(item->predict(x).equal(Tensor({1, 2}, std::vector<float>{2, -0.25})));
  const auto taken = model_from_json(with_operation("Take", R"({"axis": 1, "name": "op"})", ", [2, 0]"));
  BOOST_TEST(taken->predict(x).equal(Tensor({1, 2}, std::vector<float>{0.125, -1})));
}

BOOST_AUTO_TEST_CASE(ops_between_layers_are_saved) {
  const Folder folder;
  const Input x({4});
  const Value y = power(abs(x), 1.5) - Value(x);
  const Value part = where(y > 0.5, y, 0.0)(all, slice(1, std::nullopt));
  Model model(x, matmul(expand_dims(part, 2), expand_dims(part, 1)));
  const Tensor given = random_tensor({3, 4});
  for (const char* name : {"a.mezzo", "a.keras"}) {
    model.save(folder.path(name));
    BOOST_TEST(load_model(folder.path(name))->predict(given).equal(model.predict(given)));
  }
}

BOOST_AUTO_TEST_CASE(errors_of_operations_name_them) {
  const auto text = [](const char* name, const char* config, const char* args = "") {
    return refused<ValueError>([&] { model_from_json(with_operation(name, config, args)); });
  };
  BOOST_TEST(text("Rot90", R"({"name": "op"})") ==
             "[Rot90 \"op\"] the operation Rot90 of keras.ops can't be read between layers: put it into a layer");
  BOOST_TEST(has(text("Clip", R"({"x_min": "a", "x_max": 1})"), "[Clip \"op\"] x_min must be a number"));
  BOOST_TEST(has(text("GetItem", "{}", R"(, [{"a": 1}])"),
                 "[GetItem \"op\"] key must have numbers, slices, None or \"...\"; got "));
  BOOST_TEST(has(text("Take", R"({"axis": 1})"), "[Take \"op\"] takes 2 inputs; got 1"));
}

BOOST_AUTO_TEST_CASE(texts_of_keras_are_models) {
  const std::string layer =
      R"({"module": "keras.layers", "class_name": "Dense", "registered_name": null, "config": {"name": "fc", "units": 3,
          "activation": "relu"}})";
  const std::string input =
      R"({"module": "keras.layers", "class_name": "InputLayer", "registered_name": null,
          "config": {"batch_shape": [null, 4], "dtype": "float32", "name": "x"}})";
  const std::string text = R"({"module": "keras", "class_name": "Sequential", "registered_name": null,
      "config": {"name": "list", "trainable": true, "layers": [)" +
                           input + ", " + layer + R"(]}, "compile_config": {"optimizer": "adam", "loss": "mse"}})";
  const auto model = model_from_json(text);
  BOOST_TEST(model->count_params() == 15);
  BOOST_TEST((model->compile_options() != nullptr));
  BOOST_TEST((model_from_json(text, {.compile = false})->compile_options() == nullptr));
  const auto old = model_from_json(R"({"class_name": "Sequential", "keras_version": "2.15.0", "backend": "tensorflow",
      "config": {"name": "list", "layers": [{"class_name": "Dense", "config": {"name": "fc", "units": 3,
      "activation": "relu", "batch_input_shape": [null, 4]}}]}})");
  BOOST_TEST(old->count_params() == 15);
}

BOOST_AUTO_TEST_CASE(classes_of_models_are_named) {
  const std::string text = R"({"module": "__main__", "class_name": "Net", "config": {}, "registered_name": "my>Net"})";
  BOOST_TEST(refused<NameError>([&] { model_from_json(text); }) ==
             "unknown model \"my>Net\"; a class of models of your own must be registered by register_model() under the "
             "name that it has in Python");
  const std::string unregistered =
      R"({"module": "__main__", "class_name": "Net", "config": {}, "registered_name": "Net"})";
  BOOST_TEST(has(refused<ValueError>([&] { model_from_json(unregistered); }), "or by register_model() for a model"));
}

BOOST_AUTO_TEST_CASE(mismatched_layers_are_skipped) {
  const Folder folder;
  const std::string path = folder.path("a.weights.h5");
  Sequential saved({Input({4}), Dense(8), Dense(3)});
  saved.save_weights(path);
  Sequential model({Input({4}), Dense(8), Dense(5)});
  const Tensor head = model.weights()[2].value();
  mezzo_tests::CapturedOutput output;
  const LoadWeightsReport report = model.load_weights(path, {.skip_mismatch = true});
  BOOST_TEST(
      output.text() ==
      "mezzo: warning: [load_weights \"" + path +
          "\"] skip_mismatch skipped: array \"layers/dense_1/vars/0\" must have shape (8, 5) ([Dense] kernel); got "
          "(8, 3); array \"layers/dense_1/vars/1\" must have shape (5,) ([Dense] bias); got (3,)\n");
  BOOST_TEST(report.mismatched_keys == (std::vector<std::string>{"layers/dense_1/vars/0", "layers/dense_1/vars/1"}));
  BOOST_TEST(model.weights()[0].value().equal(saved.weights()[0].value()));
  BOOST_TEST(model.weights()[2].value().equal(head));
  Sequential rows({Input({6}), Dense(8), Dense(3)});  // whose first bias fits, but not its kernel
  const Tensor bias = rows.weights()[1].value();
  saved.weights()[1].assign(random_tensor({8}));
  saved.save_weights(path);
  rows.load_weights(path, {.skip_mismatch = true});
  BOOST_TEST(rows.weights()[1].value().equal(bias));
  Sequential other({Input({2}), Dense(1)});
  BOOST_TEST(has(refused<FileError>([&] { other.load_weights(path, {.skip_mismatch = true}); }),
                 "no array fits the layers: "));
}

BOOST_AUTO_TEST_CASE(suffixes_are_read_in_any_case) {
  const Folder folder;
  Sequential model({Input({4}), Dense(3)});
  model.save(folder.path(".keras"));
  model.save(folder.path("a.KERAS"));
  BOOST_TEST(load_model(folder.path("a.KERAS"))->count_params() == 15);
  model.save_weights(folder.path("a.Weights.H5"));
  model.load_weights(folder.path("a.Weights.H5"));
  BOOST_TEST(refused<FileError>([&] { model.save_weights(folder.path("w.h5")); }) ==
             "[Sequential] the file must end in .safetensors or .weights.h5, or have a suffix of its own; \".h5\" is "
             "the suffix of an HDF5 file, as Keras writes weights and models, which save_weights() writes as "
             ".weights.h5, for weights alone");
  BOOST_TEST(has(refused<FileError>([&] { model.save_weights(folder.path("w.keras")); }),
                 "\".keras\" is the suffix of a Keras model, which Model::save() writes"));
  BOOST_TEST(refused<FileError>([&] { load_model(folder.path("a.kears")); }) ==
             "[model \"" + folder.path("a.kears") + "\"] no such file or directory");
  const std::string onnx = folder.write("b.keras", std::vector<std::uint8_t>{8, 10, 18, 3, 'a', 'b', 'c', 58, 0});
  BOOST_TEST(has(refused<FileError>([&] { load_model(onnx); }),
                 "; it is an ONNX model: load_onnx() of <mezzo/onnx.hpp> reads it"));
}

BOOST_AUTO_TEST_CASE(lists_of_layers_are_lists_in_keras) {
  const Folder folder;
  const auto net = [] { return Sequential({Input({4}), Dense(3)}); };
  struct Pair : Model {
    Pair() : Model("Pair") {}
    Value call(const Value& x) override { return first(x) + second(x) + third(x); }
    Dense first = sub("blocks.0", Dense(2)), second = sub("blocks.1", Dense(2)), third = sub("parts.0", Dense(2));
  };
  Pair pair;
  pair(Value(Tensor({1, 4})));
  pair.save_weights(folder.path("a.weights.h5"));
  const Tensor kept = pair.weights()[2].value();
  for (const Variable& weight : pair.weights()) weight.assign(Tensor(weight.shape()));
  pair.load_weights(folder.path("a.weights.h5"));
  BOOST_TEST(pair.weights()[2].value().equal(kept));
  Sequential other = net();
  BOOST_TEST(has(refused<FileError>([&] { other.load_weights(folder.path("a.weights.h5")); }),
                 "unexpected array \"blocks/dense_1/vars/0\""));
  // Keras visits the property `layers`, which has all layers of a model, before attributes that follow it.
  BOOST_TEST(has(refused<FileError>([&] { other.load_weights(folder.path("a.weights.h5")); }),
                 "unexpected array \"layers/dense_2/vars/0\""));
}

BOOST_AUTO_TEST_SUITE_END()
