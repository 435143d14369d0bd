// Exports of loaded models, in callbacks, and of open sizes that ONNX can't compute with.
#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "onnx/exported.hpp"
#include "onnx/graph.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(export_calls)

// An export of a loaded model needs no call, and keeps the names of open sizes.
BOOST_AUTO_TEST_CASE(exports_keep_the_sizes_of_the_file) {
  OnnxFile file;
  file.input("x", {-1, -1, 4});
  auto& sizes = *file.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  sizes.mutable_dim(0)->set_dim_param("N");
  sizes.mutable_dim(1)->set_dim_param("steps");
  file.floats("w", {4, 3}, std::vector<float>(12, 0.5F));
  file.node("MatMul", {"x", "w"}, {"y"}, "product");
  file.output("y");
  const Any<Model> model = file.load();
  const ::onnx::ModelProto again = exported(*model);
  BOOST_TEST(text_of(again.graph().input(0)) == "x: 1 (N, steps, 4)");
  BOOST_TEST(text_of(again.graph().output(0)) == "y: 1 (N, steps, 3)");
  BOOST_TEST(text_of(exported(*model, {.batch = 6}).graph().input(0)) == "x: 1 (6, steps, 4)");
  const ::onnx::ModelProto renamed = exported(*model, {.dynamic_axes = {{"x", {{1, "length"}}}}});
  BOOST_TEST(text_of(renamed.graph().input(0)) == "x: 1 (N, length, 4)");
}

BOOST_AUTO_TEST_CASE(a_callback_exports_between_the_steps) {
  class Exports : public Callback {
   public:
    explicit Exports(std::string path) : path_(std::move(path)) {}
    void on_epoch_end(int, Logs&) override { mezzo::export_onnx(model(), path_); }

   private:
    std::string path_;
  };
  const Folder folder;
  Sequential model({Input({2}), Dense(1)});
  model.compile({.optimizer = SGD(0.1), .loss = "mse"});
  Exports callback(folder.path("epoch.onnx"));
  model.fit(ones({4, 2}), ones({4, 1}), {.epochs = 2, .verbose = 0, .callbacks = {callback}});
  BOOST_TEST(load_onnx(folder.path("epoch.onnx"))->predict(ones({1, 2})).equal(model.predict(ones({1, 2}))));
}

BOOST_AUTO_TEST_CASE(interpolation_needs_known_sizes) {
  const Folder folder;
  const Input x({.shape = {-1, -1, 3}, .name = "image"});
  Model model(x, UpSampling2D({.size = {2, 2}, .interpolation = "bilinear", .name = "larger"})(x));
  BOOST_CHECK_EXCEPTION(mezzo::export_onnx(model, folder.path("a.onnx")), ValueError, [](const ValueError& error) {
    const std::string text = error.what();
    const std::string wanted =
        "export_onnx: numbers that a layer makes for an open size must be positions, masks or a table, but those of "
        "interpolation are others: give the Inputs fixed sizes here; got an array of shape ";
    BOOST_TEST(text.find(wanted) != std::string::npos, text);
    BOOST_TEST(text.find("larger") != std::string::npos, text);
    return true;
  });
}

BOOST_AUTO_TEST_SUITE_END()
