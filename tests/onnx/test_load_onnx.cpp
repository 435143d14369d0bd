#include <boost/test/unit_test.hpp>

#include <cmath>
#include <filesystem>

#include <mezzo/mezzo.hpp>

#include "onnx/graph.hpp"
#include "support/folder.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// y = relu(x w1 + b1) w2 + b2 for x (batch, 2).
void add_perceptron(OnnxFile& file) {
  file.input("x", {-1, 2});
  file.floats("fc1.weight", {2, 3}, {1, -1, 2, 0.5F, 1, -2});
  file.floats("fc1.bias", {3}, {0.5F, 0, 1});
  file.floats("fc2.weight", {3, 1}, {1, 2, -1});
  file.floats("fc2.bias", {1}, {0.25F});
  file.node("MatMul", {"x", "fc1.weight"}, {"h1"}, "product");
  file.node("Add", {"h1", "fc1.bias"}, {"h2"});
  file.node("Relu", {"h2"}, {"h3"});
  file.node("Gemm", {"h3", "fc2.weight", "fc2.bias"}, {"y"}, "head");
  file.output("y");
}

Tensor perceptron_inputs() { return {{1, 2}, {-1, 0.5}, {0, -1}}; }
Tensor perceptron_outputs() { return {{4.75}, {3.25}, {-2.75}}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(load_onnx)

BOOST_AUTO_TEST_CASE(a_graph_predicts_for_any_batch) {
  OnnxFile file;
  add_perceptron(file);
  const Any<Model> model = file.load();
  const Tensor y = model->predict(perceptron_inputs());
  BOOST_TEST(y.shape() == Shape({3, 1}));
  BOOST_TEST(y.to_doubles() == perceptron_outputs().to_doubles(), boost::test_tools::per_element());
  BOOST_TEST(model->predict(perceptron_inputs().slice(0, 1)).to_doubles()[0] == 4.75);
  BOOST_TEST(model->output_names() == std::vector<std::string>({"y"}), boost::test_tools::per_element());
  std::vector<std::string> names;
  for (const auto& weight : model->named_weights()) names.push_back(weight.first);
  BOOST_TEST(
      names == std::vector<std::string>({"product/fc1.weight", "h2/fc1.bias", "head/fc2.weight", "head/fc2.bias"}),
      boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(training_reduces_the_loss) {
  OnnxFile file;
  add_perceptron(file);
  const Any<Model> model = file.load();
  model->compile({.optimizer = SGD(0.02), .loss = "mse"});
  const Tensor x = perceptron_inputs(), y({3, 1});
  const History history = model->fit(x, y, {.epochs = 20, .verbose = 0});
  BOOST_TEST(history["loss"].back() < 0.5 * history["loss"].front());
}

BOOST_AUTO_TEST_CASE(a_saved_model_loads_again) {
  OnnxFile file;
  add_perceptron(file);
  const Any<Model> model = file.load({.name = "perceptron"});
  const Folder folder;
  model->save(folder.path("a.mezzo"));
  const Any<Model> back = load_model(folder.path("a.mezzo"));
  BOOST_TEST(back->predict(perceptron_inputs()).equal(model->predict(perceptron_inputs())));
  BOOST_TEST(back->trainable_weights().size() == 4);
}

BOOST_AUTO_TEST_CASE(keras_files_hold_no_loaded_model) {
  OnnxFile file;
  add_perceptron(file);
  const Any<Model> model = file.load();
  const Folder folder;
  const std::string path = folder.path("a.keras");
  check_throws<ValueError>(
      "[model \"" + path + "\"] the model can't be saved for Keras: [mezzo>OnnxModel] Keras has no class of this name",
      [&] { model->save(path); });
  BOOST_TEST(!std::filesystem::exists(path));
}

BOOST_AUTO_TEST_CASE(only_chosen_weights_train) {
  OnnxFile file;
  add_perceptron(file);
  BOOST_TEST(file.load({.trainable = "none"})->trainable_weights().empty());
  BOOST_TEST(file.load({.trainable = "all"})->trainable_weights().size() == 4);
  const Any<Model> model = file.load({.trainable = "fc2\\..*"});
  BOOST_TEST(model->trainable_weights().size() == 2);
  const Tensor before = model->get_weights()[0];
  model->compile({.optimizer = SGD(0.02), .loss = "mse"});
  model->fit(perceptron_inputs(), Tensor({3, 1}), {.epochs = 3, .verbose = 0});
  BOOST_TEST(model->get_weights()[0].equal(before));
  check_throws<NameError>(
      file.label() +
          "trainable must match names of weights; \"fc3\" matches none; names: fc1.weight, fc1.bias, fc2.weight, "
          "fc2.bias",
      [&] { file.load({.trainable = "fc3"}); });
}

// A bias may have one element, other than a constant that is added to a result.
BOOST_AUTO_TEST_CASE(biases_of_one_element_train) {
  OnnxFile file;
  file.input("x", {-1, 2});
  file.floats("w", {2, 1}, {1, 2});
  file.floats("b", {1}, {0.5F});
  file.floats("epsilon", {1}, {1e-5F});
  file.node("MatMul", {"x", "w"}, {"h"});
  file.node("Add", {"h", "b"}, {"biased"});
  file.node("Relu", {"biased"}, {"r"});
  file.node("Add", {"r", "epsilon"}, {"y"});
  file.output("y");
  BOOST_TEST(file.load()->trainable_weights().size() == 2U);
}

BOOST_AUTO_TEST_CASE(policies_decide_the_precision) {
  OnnxFile file;
  add_perceptron(file);
  const Any<Model> model = file.load({.dtype = "mixed_bfloat16"});
  const Tensor y = model->predict(perceptron_inputs());
  BOOST_TEST(y.to_doubles()[0] == 4.75);  // numbers that bfloat16 holds
  BOOST_TEST(dtype_name(model->weights()[0].dtype()) == "float32");
  BOOST_TEST(model->explain().find("bfloat16") != std::string::npos);
  const Value eager = (*model)(Value(perceptron_inputs()));
  BOOST_TEST(dtype_name(eager.dtype()) == "bfloat16");
}

// Nodes are layers: their names choose policies, and stand in the summary.
BOOST_AUTO_TEST_CASE(nodes_are_layers) {
  OnnxFile file;
  add_perceptron(file);
  file.graph().mutable_node(3)->set_name("/top/head");
  const PolicyMap map({.default_policy = "mixed_bfloat16", .policies = {{"top.head", "float32"}}});
  const Any<Model> model = file.load({.dtype = map});
  model->predict(perceptron_inputs());
  const std::string plan = model->explain();
  const auto row = [&](const std::string& layer) {
    std::size_t at = plan.find(" " + layer + " ");
    while (at != std::string::npos && plan.compare(plan.rfind('\n', at) + 1, 6, "matmul") != 0) {
      at = plan.find(" " + layer + " ", at + 1);
    }
    return at == std::string::npos ? plan : plan.substr(at, plan.find('\n', at) - at);
  };
  BOOST_TEST(row("product").find("bfloat16") != std::string::npos, plan);
  BOOST_TEST(row("top.head").find("float32") != std::string::npos, plan);
  BOOST_TEST(model->summary_text().find("top.head") != std::string::npos, model->summary_text());
  BOOST_TEST(model->layers().size() == 4U);
}

BOOST_AUTO_TEST_CASE(inputs_are_checked) {
  OnnxFile file;
  add_perceptron(file);
  const Any<Model> model = file.load();
  check_throws<ShapeError>("[OnnxModel] input \"x\" must have shape (?, 2); got shape (4, 3)", [&] {
    model->predict(Tensor({4, 3}));
  });
  OnnxFile two;
  two.input("a", {-1, 2});
  two.input("b", {-1, 2});
  two.node("Add", {"a", "b"}, {"y"}, "sum");
  two.output("y");
  const Any<Model> sum = two.load();
  BOOST_TEST(sum->predict({{"b", Tensor({3, 2})}, {"a", ones({3, 2})}}).to_doubles()[0] == 1);
  check_throws<ShapeError>(
      "[OnnxModel] input \"b\" axis 0 (\"batch\") must have size 3, as in another input; got shape (4, 2)", [&] {
        (*sum)({Value(Tensor({3, 2})), Value(Tensor({4, 2}))});
      });
}

// A normalization whose weights train uses the statistics of the batch, and updates the running ones, also if the file
// was exported for training.
BOOST_AUTO_TEST_CASE(batch_normalization_follows_the_mode) {
  OnnxFile file(15);
  file.input("x", {-1, 1, 2, 1});
  file.floats("scale", {1}, {1});
  file.floats("bias", {1}, {0});
  file.floats("mean", {1}, {0});
  file.floats("var", {1}, {1});
  auto& node = file.node("BatchNormalization", {"x", "scale", "bias", "mean", "var"}, {"y", "m", "v"}, "norm");
  set_int(node, "training_mode", 1);
  file.output("y");
  const Tensor x = Tensor({2, 1, 2, 1}, std::vector<float>{1, 3, 5, 7});
  const auto close = boost::test_tools::tolerance(1e-6);
  for (const bool trains : {true, false}) {
    const Any<Model> model = file.load({.trainable = trains ? "auto" : "none"});
    BOOST_TEST(model->predict(x).to_doubles()[3] == 7 / std::sqrt(1 + 1e-5), close);
    BOOST_TEST(model->trainable_weights().size() == (trains ? 2U : 0U));
    if (trains) {
      model->compile({.optimizer = SGD(0.0), .loss = "mse"});
      model->train_on_batch(x, Tensor({2, 1, 2, 1}));
      // momentum 0.9: mean 4, variance 5 of the batch
      BOOST_TEST(model->get_weights()[2].to_doubles()[0] == 0.4, close);
      BOOST_TEST(model->get_weights()[3].to_doubles()[0] == 1.4, close);
    }
    const Value trained = (*model)(Value(x), {.training = true});
    BOOST_TEST(trained.tensor().to_doubles()[3] == (trains ? 3 / std::sqrt(5 + 1e-5) : 7 / std::sqrt(1 + 1e-5)), close);
  }
}

// torch writes arrays of equal numbers once: the scale, all ones, is the initial variance, too.
BOOST_AUTO_TEST_CASE(statistics_are_arrays_of_their_own) {
  OnnxFile file(15);
  file.input("x", {-1, 1, 2, 1});
  file.floats("scale", {1}, {1});
  file.floats("bias", {1}, {0});
  file.node("Identity", {"scale"}, {"var"});
  file.node("Identity", {"bias"}, {"mean"});
  file.node("BatchNormalization", {"x", "scale", "bias", "mean", "var"}, {"y"}, "norm");
  file.output("y");
  const Any<Model> model = file.load();
  BOOST_TEST(model->trainable_weights().size() == 2U);
  BOOST_TEST(model->non_trainable_weights().size() == 2U);
}

BOOST_AUTO_TEST_CASE(dropout_follows_the_mode) {
  OnnxFile file(13);
  // The sum of all is odd, that of the elements that are kept, times 2, is even.
  std::vector<float> powers;
  for (int i = 0; i < 16; ++i) powers.push_back(static_cast<float>(1 << i));
  file.input("x", {-1, 16});
  file.floats("w", {16, 1}, powers);
  file.ints("unused", {1});
  file.floats("ratio", {}, {0.5F});
  file.node("Dropout", {"x", "ratio"}, {"h"}, "drop");
  file.node("MatMul", {"h", "w"}, {"y"});
  file.output("y");
  const Any<Model> model = file.load();
  BOOST_TEST(model->predict(ones({2, 16})).to_doubles()[0] == 65535);
  const Value trained = (*model)(Value(ones({2, 16})), {.training = true});
  BOOST_TEST(trained.tensor().to_doubles()[0] != 65535);
}

// Sizes of a batch are numbers in each call, so that Reshape can follow from Shape.
BOOST_AUTO_TEST_CASE(shapes_follow_from_the_batch) {
  OnnxFile file;
  file.input("x", {-1, 2, 3});
  file.ints("first", {0});
  file.ints("rest", {-1});
  file.node("Shape", {"x"}, {"s"});
  file.node("Gather", {"s", "first"}, {"n"});
  file.node("Concat", {"n", "rest"}, {"shape"}).mutable_attribute();
  set_int(*file.graph().mutable_node(2), "axis", 0);
  file.node("Reshape", {"x", "shape"}, {"y"});
  file.output("y");
  const Any<Model> model = file.load();
  BOOST_TEST(model->predict(Tensor({5, 2, 3})).shape() == Shape({5, 6}));
  BOOST_TEST(model->predict(Tensor({2, 2, 3})).shape() == Shape({2, 6}));
}

// A model on top of a loaded one, with any batch size.
BOOST_AUTO_TEST_CASE(a_loaded_model_is_a_layer_of_another) {
  for (const bool computes_shapes : {false, true}) {
    OnnxFile file;
    file.input("x", {-1, 2, 3});
    file.floats("w", {6, 4}, std::vector<float>(24, 0.5F));
    file.ints("first", {0});
    file.ints("rest", {-1});
    if (computes_shapes) {
      file.node("Shape", {"x"}, {"s"});
      file.node("Gather", {"s", "first"}, {"n"});
      set_int(file.node("Concat", {"n", "rest"}, {"shape"}), "axis", 0);
      file.node("Reshape", {"x", "shape"}, {"flat"});
    } else {
      file.node("Flatten", {"x"}, {"flat"});
    }
    file.node("MatMul", {"flat", "w"}, {"y"});
    file.output("y");
    const Any<Model> backbone = file.load();
    const Input x({2, 3});
    const Value features = (*backbone)(x);
    BOOST_TEST(features.shape() == Shape({-1, 4}));
    Model model(x, Dense(1, {.kernel_initializer = "ones"})(features));
    BOOST_TEST(model.predict(ones({5, 2, 3})).to_doubles()[4] == 12);
    BOOST_TEST(model.trainable_weights().size() == 3U);
    model.compile({.optimizer = SGD(1e-3), .loss = "mse"});
    const History history = model.fit(ones({5, 2, 3}), Tensor({5, 1}), {.epochs = 3, .verbose = 0});
    BOOST_TEST(history["loss"].back() < history["loss"].front());
    BOOST_TEST(backbone->get_weights()[0].to_doubles()[0] != 0.5);
  }
}

// An initializer that is also an input of the graph is its default, as before version 4 of the format.
BOOST_AUTO_TEST_CASE(inputs_with_defaults_are_weights) {
  OnnxFile file(9);
  add_perceptron(file);
  file.input("fc1.weight", {2, 3});
  BOOST_TEST(file.load()->predict(perceptron_inputs()).to_doubles()[0] == 4.75);
}

BOOST_AUTO_TEST_CASE(external_data_lies_in_the_folder) {
  OnnxFile file;
  add_perceptron(file);
  const float numbers[] = {9, 1, -1, 2, 0.5F, 1, -2};
  file.folder.write("w.bin",
                    std::vector<std::uint8_t>(reinterpret_cast<const std::uint8_t*>(numbers),
                                              reinterpret_cast<const std::uint8_t*>(numbers) + sizeof numbers));
  auto& tensor = *file.graph().mutable_initializer(0);
  tensor.clear_float_data();
  tensor.set_data_location(::onnx::TensorProto::EXTERNAL);
  const auto place = [&](const std::string& location, const std::string& offset) {
    tensor.clear_external_data();
    for (const auto& [key, value] : {std::pair{"location", location}, {"offset", offset}}) {
      auto& entry = *tensor.add_external_data();
      entry.set_key(key);
      entry.set_value(value);
    }
  };
  place("w.bin", "4");
  BOOST_TEST(file.load()->predict(perceptron_inputs()).to_doubles()[0] == 4.75);
  const std::string start = file.label() +
                            "tensor \"fc1.weight\": external data must be in the folder of the file, without \"..\" or "
                            "a link out of it; got ";
  for (const std::string& location : {std::string("../w.bin"), file.folder.path("w.bin"), std::string()}) {
    place(location, "0");
    check_throws<FileError>(start + "\"" + location + "\"", [&] { file.load(); });
  }
  const Folder outside;
  outside.write("w.bin", std::vector<std::uint8_t>(28));
  std::filesystem::create_symlink(outside.path("w.bin"), file.folder.path("link.bin"));
  place("link.bin", "0");
  check_throws<FileError>(start + "\"link.bin\"", [&] { file.load(); });
  place("w.bin", "8");
  BOOST_CHECK_THROW(file.load(), FileError);
}

BOOST_AUTO_TEST_SUITE_END()
