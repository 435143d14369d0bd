// Parts of loaded graphs, and other batches.
#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "onnx/graph.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Features of images and scores of them; a second input for the scores alone.
void add_classifier(OnnxFile& file) {
  file.input("x", {-1, 2, 4, 4});
  file.input("temperature", {});
  file.floats("conv.weight", {3, 2, 1, 1}, {1, 0, 0, 1, 1, 1});
  file.floats("fc.weight", {3, 2}, {1, 2, 3, 4, 5, 6});
  file.node("Conv", {"x", "conv.weight"}, {"c"}, "/conv/Conv");
  file.node("GlobalAveragePool", {"c"}, {"pool5"}, "/avgpool/GlobalAveragePool");
  file.node("Flatten", {"pool5"}, {"flat"}, "flatten");
  file.node("MatMul", {"flat", "fc.weight"}, {"scores"}, "fc");
  file.node("Div", {"scores", "temperature"}, {"y"}, "divide");
  file.output("y");
}

// One Reshape to a shape with the batch of the file.
void add_fixed(OnnxFile& file, const std::vector<std::int64_t>& shape) {
  file.input("x", {2, 3, 4});
  file.ints("shape", shape);
  file.node("Relu", {"x"}, {"r"});
  file.node("Reshape", {"r", "shape"}, {"y"}, "flatten");
  file.output("y");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(onnx_cuts)

BOOST_AUTO_TEST_CASE(a_graph_ends_at_named_outputs) {
  OnnxFile file;
  add_classifier(file);
  for (const std::string name : {"pool5", "/avgpool/GlobalAveragePool", "avgpool.GlobalAveragePool"}) {
    const Any<Model> model = file.load({.outputs = {name}});
    BOOST_TEST(model->input_names() == std::vector<std::string>{"x"}, boost::test_tools::per_element());
    BOOST_TEST(model->output_names() == std::vector<std::string>{"pool5"}, boost::test_tools::per_element());
    BOOST_TEST(model->predict(ones({2, 2, 4, 4})).shape() == Shape({2, 3, 1, 1}));
    BOOST_TEST(model->weights().size() == 1U);
  }
  const Any<Model> both = file.load({.outputs = {"flat", "scores"}});
  BOOST_TEST((*both)(Values{Value(ones({1, 2, 4, 4}))}).size() == 2U);
  check_throws<NameError>(file.label() +
                              "outputs must be names of nodes, or of values that nodes make; got \"pool6\"; last "
                              "nodes: divide, fc, flatten, /avgpool/GlobalAveragePool, /conv/Conv",
                          [&] { file.load({.outputs = {"pool6"}}); });
}

BOOST_AUTO_TEST_CASE(a_new_head_trains_on_a_cut_graph) {
  OnnxFile file;
  add_classifier(file);
  const Any<Model> backbone = file.load({.outputs = {"pool5"}});
  backbone->set_trainable(false);
  const Input x({2, 4, 4});
  Model model(x, Dense(5)(Flatten()((*backbone)(x))));
  model.compile({.optimizer = SGD(0.1), .loss = "mse"});
  const History history = model.fit(ones({4, 2, 4, 4}), ones({4, 5}), {.epochs = 5, .verbose = 0});
  BOOST_TEST(history["loss"].back() < history["loss"].front());
  BOOST_TEST(backbone->get_weights()[0].to_doubles()[0] == 1);
  model.save(file.folder.path("tuned.mezzo"));
  const Tensor images = ones({1, 2, 4, 4});
  BOOST_TEST(load_model(file.folder.path("tuned.mezzo"))->predict(images).equal(model.predict(images)));
}

BOOST_AUTO_TEST_CASE(a_fixed_batch_can_be_opened) {
  for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{2, 12}, {2, -1}, {2, 4, 3}}) {
    OnnxFile file;
    add_fixed(file, shape);
    const Any<Model> fixed = file.load();
    check_throws<ShapeError>(
        "[OnnxModel] input \"x\" must have shape (2, 3, 4); got shape (5, 3, 4); load_onnx(path, {.dynamic_batch = "
        "true}) takes any number of samples",
        [&] {
          fixed->predict(Tensor({5, 3, 4}));
        });
    check_throws<ShapeError>("[OnnxModel] input \"x\" must have shape (2, 3, 4); got shape (2, 3, 5)", [&] {
      fixed->predict(Tensor({2, 3, 5}));
    });
    const Any<Model> open = file.load({.dynamic_batch = true});
    BOOST_TEST(open->predict(ones({5, 3, 4})).shape()[0] == 5);
    BOOST_TEST(open->predict(ones({2, 3, 4})).equal(fixed->predict(ones({2, 3, 4}))));
  }
}

BOOST_AUTO_TEST_CASE(a_batch_in_the_graph_stays_fixed) {
  OnnxFile file;
  file.input("x", {2, 3});
  file.floats("rows", {2, 3}, {1, 2, 3, 4, 5, 6});
  file.node("Mul", {"x", "rows"}, {"y"}, "scale");
  file.output("y");
  check_throws<FileError>(
      file.label() +
          "[OnnxModel] dynamic_batch: the graph must take any number of samples; got for 5: [Mul \"scale\"] shapes "
          "must be equal or 1 on axis -2; got (5, 3) and (2, 3)",
      [&] { file.load({.dynamic_batch = true}); });
  OnnxFile mixed;
  add_fixed(mixed, {4, -1});
  check_throws<FileError>(
      mixed.label() +
          "[OnnxModel] dynamic_batch: output \"y\" must grow with the samples; got shape (4, 6) for "
          "2 and (4, 15) for 5",
      [&] { mixed.load({.dynamic_batch = true}); });
}

BOOST_AUTO_TEST_SUITE_END()
