#include "onnx/exported.hpp"

#include <algorithm>
#include <cstring>

#include <mezzo/io/file.hpp>
#include <mezzo/onnx/export_message.hpp>
#include <mezzo/onnx/export_model.hpp>
#include <mezzo/training/module/inference_graph.hpp>

#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Scales by random numbers.
class Noisy : public Layer {
 public:
  Noisy() : Layer("Noisy", DenseOptions{.name = "noisy"}) {}

 protected:
  Value call(const Value& x) override { return x * random::uniform({3}); }
};

// Inverts matrices.
class Spectral : public Layer {
 public:
  Spectral() : Layer("Spectral", DenseOptions{.name = "spectral"}) {}

 protected:
  Value call(const Value& x) override { return inv(x); }
};

// Has one op more for an odd batch.
class Parity : public Layer {
 public:
  Parity() : Layer("Parity", DenseOptions{.name = "parity"}) {}

 protected:
  Value call(const Value& x) override {
    const std::int64_t steps = x.shape()[1];
    return steps % 4 == 3 ? x : exp(x);
  }
};

template <class L>
class Around : public Model {
 public:
  Around() : Model("Around"), layer_(sub("layer", L())) {}

 protected:
  Values call_many(const Values& xs) override { return {layer_(xs[0])}; }

 private:
  L layer_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(export_onnx)

BOOST_AUTO_TEST_CASE(a_dense_model_is_a_product_with_a_symbolic_batch) {
  Sequential model({Input({.shape = {4}}), Dense({.units = 3, .activation = "relu", .name = "fc"})});
  const auto file = exported(model);
  BOOST_TEST(operators_of(file) == "MatMul Add Relu");
  BOOST_TEST(arrays_of(file) == "fc.weight (4, 3) fc.bias (3,)");
  BOOST_TEST(text_of(file.graph().input(0)) == "input: 1 (batch, 4)");
  BOOST_TEST(text_of(file.graph().output(0)) == "output: 1 (batch, 3)");
  BOOST_TEST(file.opset_import(0).version() == 17);
  BOOST_TEST(file.ir_version() == 8);
  BOOST_TEST(file.producer_name() == "mezzo");
  BOOST_TEST(file.producer_version() == version());
}

BOOST_AUTO_TEST_CASE(options_set_the_batch_the_opset_and_metadata) {
  Sequential model({Input({.shape = {4}}), Dense({.units = 3})});
  const auto file = exported(model, {.opset = 21, .batch = 8, .metadata = {{"author", "me"}}});
  BOOST_TEST(text_of(file.graph().input(0)) == "input: 1 (8, 4)");
  BOOST_TEST(file.opset_import(0).version() == 21);
  BOOST_TEST(file.ir_version() == 10);
  BOOST_TEST(file.metadata_props(0).key() == "author");
  BOOST_TEST(file.metadata_props(0).value() == "me");
}

BOOST_AUTO_TEST_CASE(options_out_of_range_are_errors) {
  Sequential model({Input({.shape = {4}}), Dense({.units = 3})});
  const Folder folder;
  const std::string path = folder.path("a.onnx"), label = "[export_onnx \"" + path + "\"] ";
  const auto refused = [&](const ExportOnnxOptions& options, const std::string& text) {
    check_throws<ValueError>(label + text, [&] { mezzo::export_onnx(model, path, options); });
  };
  refused({.opset = 16}, "opset must be 17 to 22; got 16");
  refused({.batch = 0}, "batch must be at least 1; got 0");
  refused({.batch = "any"}, "batch must be \"dynamic\" or a number; got \"any\"");
  refused({.precision = "int8"}, "precision must be \"\" (that of the model) or \"float32\"; got \"int8\"");
  refused({.dynamic_axes = {{"input", {{2, "b"}}}}}, "an axis of \"input\" in dynamic_axes must be 0 to 1; got 2");
  refused({.dynamic_axes = {{"input", {{0, ""}}}}}, "axis 0 of \"input\" in dynamic_axes needs a name");
  refused({.batch = 4, .dynamic_axes = {{"input", {{0, "n"}}}}},
          "axis 0 of \"input\" must be either fixed by batch or open by dynamic_axes; got 4 and \"n\"");
  check_throws<NameError>(label + "unknown input in dynamic_axes \"x\"; valid names: input", [&] {
    mezzo::export_onnx(model, path, {.dynamic_axes = {{"x", {{0, "b"}}}}});
  });
  const std::string other = folder.path("a.keras");
  check_throws<FileError>("[export_onnx \"" + other +
                              "\"] the file must end in .onnx, or have a suffix of its own; \".keras\" is the suffix "
                              "of a Keras model, which Model::save() writes",
                          [&] { mezzo::export_onnx(model, other); });
}

BOOST_AUTO_TEST_CASE(a_model_must_be_built) {
  Sequential model({Dense({.units = 3})});
  const Folder folder;
  const std::string path = folder.path("a.onnx");
  check_throws<ValueError>(
      "[export_onnx \"" + path +
          "\"] the model must be built, by Inputs or a first call; got one of unknown input shapes",
      [&] { mezzo::export_onnx(model, path); });
  model.predict(Tensor({2, 4}));
  BOOST_TEST(text_of(exported(model).graph().input(0)) == "input: 1 (batch, 4)");
}

BOOST_AUTO_TEST_CASE(an_op_without_a_counterpart_is_named_before_anything_is_written) {
  const Folder folder;
  Around<Spectral> inverse;
  inverse.predict(Tensor({2, 3, 3}, std::vector<float>(18, 1)));
  check_throws<ValueError>("[Spectral \"spectral\"] export_onnx: the op inv has no counterpart in ONNX",
                           [&] { mezzo::export_onnx(inverse, folder.path("a.onnx")); });
  Around<Noisy> noisy;
  noisy.predict(Tensor({2, 3}));
  check_throws<ValueError>(
      "[Noisy \"noisy\"] export_onnx: the outputs must not depend on the step or on random "
      "numbers; got a read of one of them",
      [&] { mezzo::export_onnx(noisy, folder.path("a.onnx")); });
  BOOST_TEST(std::filesystem::is_empty(folder.path()));
}

BOOST_AUTO_TEST_CASE(ops_must_not_depend_on_sizes) {
  Around<Parity> model;
  model.predict(Tensor({2, 3}));
  const ExportOnnxOptions open{.dynamic_axes = {{"input", {{0, "batch"}, {1, "steps"}}}}};
  const Folder folder;
  const std::string path = folder.path("a.onnx");
  check_throws<ValueError>("[export_onnx \"" + path +
                               "\"] the ops of the model must be the same for all sizes of its inputs; got [Around] "
                               "cast and [Parity \"parity\"] exp for different sizes",
                           [&] { mezzo::export_onnx(model, path, open); });
  BOOST_TEST(operators_of(exported(model)) == "Identity");
}

BOOST_AUTO_TEST_CASE(several_inputs_and_outputs_have_the_names_of_the_model) {
  const Input a({.shape = {4}, .name = "left"}), b({.shape = {4}, .name = "right"});
  Dense shared({.units = 2, .name = "shared"});
  Model model({a, b}, {Add({.name = "sum"})({shared(a), shared(b)}), Dense({.units = 1, .name = "score"})(a)});
  const auto file = exported(model);
  BOOST_TEST(text_of(file.graph().input(0)) == "left: 1 (batch, 4)");
  BOOST_TEST(text_of(file.graph().input(1)) == "right: 1 (batch, 4)");
  BOOST_TEST(text_of(file.graph().output(0)) == "sum: 1 (batch, 2)");
  BOOST_TEST(text_of(file.graph().output(1)) == "score: 1 (batch, 1)");
  BOOST_TEST(arrays_of(file) == "shared.weight (4, 2) shared.bias (2,) score.weight (4, 1) score.bias (1,)");
}

BOOST_AUTO_TEST_CASE(transposes_around_convolutions_cancel) {
  Sequential model({Input({.shape = {8, 8, 3}}),
                    Conv2D({.filters = 4, .kernel_size = {3, 3}, .activation = "relu", .name = "a"}),
                    BatchNormalization({.name = "norm"}), MaxPooling2D(),
                    Conv2D({.filters = 5, .kernel_size = {3, 3}, .name = "b"}), GlobalAveragePooling2D()});
  const auto file = exported(model);
  BOOST_TEST(operators_of(file) == "Transpose Conv Relu BatchNormalization MaxPool Conv Transpose ReduceMean");
  BOOST_TEST(arrays_of(file).find("a.weight (4, 3, 3, 3)") == 0U);
  BOOST_TEST(file.graph().node(1).input(1) == "a.weight");
  BOOST_TEST(file.graph().node(1).input(2) == "a.bias");
}

BOOST_AUTO_TEST_CASE(vectors_of_channels_follow_transposed_values) {
  const Input x({.shape = {8, 8, 3}});
  const Value features = Conv2D({.filters = 4, .kernel_size = {3, 3}, .use_bias = false, .name = "a"})(x);
  const Value shift = Tensor({4}, std::vector<float>{1, 2, 3, 4});
  Model model(x, {features, GlobalAveragePooling2D()(features + shift)});
  const auto file = exported(model);
  // The convolution has another reader, so that the vector is no bias of it.
  BOOST_TEST(operators_of(file) == "Transpose Conv Unsqueeze Add Transpose ReduceMean Transpose");
  const std::string& axes = file.graph().node(2).input(1);
  bool found = false;
  for (const auto& array : file.graph().initializer()) {
    if (array.name() != axes) continue;
    found = true;
    std::vector<std::int64_t> numbers(array.raw_data().size() / sizeof(std::int64_t));
    std::memcpy(numbers.data(), array.raw_data().data(), array.raw_data().size());
    BOOST_TEST(numbers == (std::vector<std::int64_t>{1, 2}), boost::test_tools::per_element());
  }
  BOOST_TEST(found);
}

BOOST_AUTO_TEST_CASE(open_sizes_are_computed_in_the_graph) {
  const Input x({.shape = {-1, 4}, .name = "x"});
  const Value wide = UpSampling1D({.size = 2})(x);
  Model model(x, Flatten()(Dense({.units = 3})(wide)));
  const auto file = exported(model);
  BOOST_TEST(text_of(file.graph().input(0)) == "x: 1 (batch, axis_1, 4)");
  BOOST_TEST(text_of(file.graph().output(0)) == "flatten: 1 (batch, 0)");
}

BOOST_AUTO_TEST_CASE(many_bytes_go_to_a_second_file) {
  const Folder folder;
  Sequential model({Input({.shape = {40}}), Dense({.units = 30, .name = "fc"})});
  const std::string path = folder.path("big.onnx");
  const Graph graph = detail::inference_graph(model, {{{2, 40}, DType::float32}});
  const detail::ExportTraces traces{{{"x", {{2, 40}, DType::float32}}}, {graph, graph, graph}};
  const auto big = detail::export_model(traces, {"y"}, detail::weight_file_names(model), {17, false});
  detail::write_exported(big, {}, {.graph_name = "big", .embedded_bytes = 1000}, path, "[test]");
  const auto file = detail::read_onnx_file(path, "[test]");
  const auto& weight = file.graph().initializer(0);
  BOOST_TEST(weight.name() == "fc.weight");
  BOOST_TEST(weight.raw_data().empty());
  BOOST_TEST(weight.data_location() == ::onnx::TensorProto::EXTERNAL);
  BOOST_TEST(weight.external_data(0).key() == "location");
  BOOST_TEST(weight.external_data(0).value() == "big.onnx.data");
  BOOST_TEST(weight.external_data(1).value() == "0");
  BOOST_TEST(weight.external_data(2).value() == std::to_string(40 * 30 * 4));
  BOOST_TEST(file.graph().initializer(1).raw_data().size() == 30U * 4);
  const detail::Bytes data = detail::read_file(path + ".data", 1 << 20);
  BOOST_TEST(data.size() == 40U * 30 * 4);
  const Tensor kernel = model.weights()[0].value();
  BOOST_TEST(std::equal(data.begin(), data.end(), static_cast<const std::uint8_t*>(kernel.raw())));
}

BOOST_AUTO_TEST_SUITE_END()
