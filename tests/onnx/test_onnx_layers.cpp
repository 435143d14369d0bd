// Nodes of loaded models as layers with weights of their own.
#include <boost/test/unit_test.hpp>

#include <mezzo/io/safetensors.hpp>
#include <mezzo/mezzo.hpp>

#include "onnx/graph.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// y = norm(x w1 + b1) w2 with w1 also as the last factor: w1 is used twice.
void add_network(OnnxFile& file) {
  file.input("x", {-1, 2});
  file.floats("w1", {2, 2}, {1, -1, 2, 0.5F});
  file.floats("b1", {2}, {0.5F, 1});
  for (const char* name : {"scale", "shift", "mean", "var"}) file.floats(name, {2}, {1, 1});
  file.node("Identity", {"w1"}, {"same"}, "mover");
  file.node("Gemm", {"x", "same", "b1"}, {"h"}, "/body/first");
  file.node("BatchNormalization", {"h", "scale", "shift", "mean", "var"}, {"n"}, "/body/norm");
  file.node("Transpose", {"w1"}, {"turned"}, "turn");
  file.node("MatMul", {"n", "turned"}, {"y"}, "last");
  file.output("y");
}

std::vector<std::string> paths_of(const Model& model) {
  std::vector<std::string> out;
  for (const auto& weight : model.named_weights()) out.push_back(weight.first);
  return out;
}

void train(Model& model) {
  model.compile({.optimizer = SGD(0.1), .loss = "mse"});
  model.fit(Tensor{{1, 2}, {3, -1}, {0.5, 1}}, Tensor({3, 2}), {.epochs = 2, .verbose = 0});
}

// Freezes the layers of the first node.
class FreezeFirst : public BaseFinetuning {
 public:
  void freeze_before_training() override { freeze("body.first"); }
  void finetune_function(int, const std::string&) override {}
};

}  // namespace

BOOST_AUTO_TEST_SUITE(onnx_layers)

BOOST_AUTO_TEST_CASE(weights_belong_to_the_first_node_that_computes_with_them) {
  OnnxFile file;
  add_network(file);
  const Any<Model> model = file.load();
  BOOST_TEST(paths_of(*model) == std::vector<std::string>({"body.first/w1", "body.first/b1", "body.norm/scale",
                                                           "body.norm/shift", "body.norm/mean", "body.norm/var"}),
             boost::test_tools::per_element());
  model->save_weights(file.folder.path("w.safetensors"));
  const SafetensorsFile saved(file.folder.path("w.safetensors"));
  BOOST_TEST(saved.find("w1") != nullptr);
  BOOST_TEST(saved.find("var") != nullptr);
  model->load_weights(file.folder.path("w.safetensors"));
}

BOOST_AUTO_TEST_CASE(a_frozen_node_keeps_its_weights) {
  OnnxFile file;
  add_network(file);
  const Any<Model> model = file.load();
  detail::LayerHandle layer = model->get_layer("body.first");
  BOOST_TEST(layer.weights().size() == 2U);
  layer.set_trainable(false);
  BOOST_TEST(model->trainable_weights().size() == 2U);
  const std::vector<Tensor> before = model->get_weights();
  train(*model);
  const std::vector<Tensor> after = model->get_weights();
  for (std::size_t i = 0; i < before.size(); ++i) BOOST_TEST(before[i].equal(after[i]) == (i < 2), i);
}

// A frozen normalization runs with its moving statistics.
BOOST_AUTO_TEST_CASE(a_frozen_normalization_runs_as_in_inference) {
  OnnxFile file;
  add_network(file);
  const Any<Model> model = file.load();
  model->get_layer("body.norm").set_trainable(false);
  const Tensor x{{1, 2}, {3, -1}};
  const Value trained = (*model)(Value(x), {.training = true});
  BOOST_TEST(trained.tensor().to_doubles() == model->predict(x).to_doubles(), boost::test_tools::per_element());
  train(*model);
  BOOST_TEST(model->get_weights()[4].to_doubles()[0] == 1);
}

BOOST_AUTO_TEST_CASE(finetuning_callbacks_freeze_nodes) {
  OnnxFile file;
  add_network(file);
  const Any<Model> model = file.load();
  const std::vector<Tensor> before = model->get_weights();
  model->compile({.optimizer = SGD(0.1), .loss = "mse"});
  FreezeFirst freeze;
  model->fit(Tensor{{1, 2}, {3, -1}}, Tensor({2, 2}), {.epochs = 1, .verbose = 0, .callbacks = {freeze}});
  BOOST_TEST(model->get_weights()[0].equal(before[0]));
  BOOST_TEST(!model->get_weights()[2].equal(before[2]));
}

BOOST_AUTO_TEST_CASE(saved_models_keep_the_flags) {
  OnnxFile file;
  add_network(file);
  const Any<Model> model = file.load();
  model->get_layer("body.norm").set_trainable(false);
  model->save(file.folder.path("a.mezzo"));
  const Any<Model> back = load_model(file.folder.path("a.mezzo"));
  BOOST_TEST(!back->get_layer("body.norm").trainable());
  BOOST_TEST(back->get_layer("body.first").trainable());
  BOOST_TEST(back->trainable_weights().size() == 2U);
  back->get_layer("body.norm").set_trainable(true);
  back->save(file.folder.path("b.mezzo"));
  BOOST_TEST(load_model(file.folder.path("b.mezzo"))->trainable_weights().size() == 4U);
}

// Nodes without names, or with one name, have automatic ones if they have weights.
BOOST_AUTO_TEST_CASE(equal_names_get_numbers) {
  OnnxFile file;
  file.input("x", {-1, 2});
  file.floats("a", {2, 2}, {1, 0, 0, 1});
  file.floats("b", {2, 2}, {1, 0, 0, 1});
  file.node("MatMul", {"x", "a"}, {"h"}, "same");
  file.node("MatMul", {"h", "b"}, {"y"}, "same");
  file.output("y");
  const Any<Model> model = file.load();
  BOOST_TEST(paths_of(*model) == std::vector<std::string>({"same/a", "mat_mul/b"}), boost::test_tools::per_element());
}

// Large tables of integers are tensors of a model file, and no text of its config.
BOOST_AUTO_TEST_CASE(large_constants_are_tensors_of_the_file) {
  constexpr int rows = 3'000'000;
  OnnxFile file;
  file.input("x", {-1, 1}, ::onnx::TensorProto::INT64);
  std::vector<int> numbers(rows);
  for (int i = 0; i < rows; ++i) numbers[static_cast<std::size_t>(i)] = i % 251;
  for (const char* name : {"table", "other", "third"}) file.bytes(name, {rows}, numbers);
  file.node("Gather", {"table", "x"}, {"t"});
  file.node("Gather", {"other", "x"}, {"o"});
  file.node("Gather", {"third", "x"}, {"r"});
  file.node("Max", {"t", "o", "r"}, {"m"});
  set_int(file.node("Cast", {"m"}, {"y"}), "to", ::onnx::TensorProto::FLOAT);
  file.output("y");
  const Any<Model> model = file.load({.dtype = "mixed_bfloat16"});
  BOOST_TEST(model->trainable_weights().empty());
  BOOST_TEST(dtype_name(model->weights().at(0).dtype()) == "uint8");
  const Tensor x({2, 1}, std::vector<std::int64_t>{252, 2'999'999});
  const std::vector<double> wanted{1, 2'999'999 % 251};
  BOOST_TEST(model->predict(x).to_doubles() == wanted, boost::test_tools::per_element());
  model->save(file.folder.path("big.mezzo"));
  BOOST_TEST(load_model(file.folder.path("big.mezzo"))->predict(x).to_doubles() == wanted,
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
