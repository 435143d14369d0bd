#include <boost/test/unit_test.hpp>

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
  BOOST_TEST(names == std::vector<std::string>({"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"}),
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

BOOST_AUTO_TEST_SUITE_END()
