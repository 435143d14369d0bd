// Quantized layers as ONNX files, which tests/parity/onnx_export.py compares with ONNX Runtime.
#include "onnx/exported.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include <mezzo/core/cpu.hpp>

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct Case {
  std::string name;
  std::function<Any<Model>()> make;
  Shape sample;
  DType dtype = DType::float32;
};

template <class... Layers>
std::function<Any<Model>()> sequence(const Shape& shape, const Layers&... layers) {
  return [=]() -> Any<Model> { return Sequential({Input({.shape = shape}), layers...}); };
}

Any<Model> tied(bool tie_weights) {
  const Input x({5}, {.dtype = "int32"});
  ReversibleEmbedding table({.input_dim = 11, .output_dim = 7, .tie_weights = tie_weights});
  const Value rows = table(x);
  return Model(x, table(LayerNormalization()(rows), {.reverse = true}));
}

Any<Model> attention() {
  const Input x({5, 8});
  return Model(x, MultiHeadAttention(2, 4)(x, x));
}

std::vector<Case> cases() {
  return {
      {"dense", sequence({12}, Dense(7, {.activation = "relu"}), Dense(3)), {12}},
      {"einsum",
       sequence({4, 12}, EinsumDense({.equation = "abc,cde->abde", .output_shape = {-1, 2, 5}, .bias_axes = "de"}),
                EinsumDense({.equation = "abde,def->abf", .output_shape = {-1, 6}})),
       {4, 12}},
      {"embedding",
       []() -> Any<Model> {
         return Sequential({Input({5}, {.dtype = "int32"}), Embedding(11, 7), Dense(3)});
       },
       {5},
       DType::int32},
      {"tied", [] { return tied(true); }, {5}, DType::int32},
      {"untied", [] { return tied(false); }, {5}, DType::int32},
      {"attention", attention, {5, 8}},
      {"lstm", sequence({6, 4}, LSTM({.units = 5})), {6, 4}},
      {"gru", sequence({6, 4}, GRU({.units = 5, .return_sequences = true})), {6, 4}},
      {"gru_before", sequence({6, 4}, GRU({.units = 5, .reset_after = false})), {6, 4}},
      {"simple_rnn", sequence({6, 4}, SimpleRNN({.units = 5})), {6, 4}},
      {"conv1d", sequence({9, 4}, Conv1D(6, 3)), {9, 4}},
      {"conv2d",
       sequence({7, 6, 3}, Conv2D(8, 3, {.padding = "same", .activation = "relu"}), Flatten(), Dense(3)),
       {7, 6, 3}},
      {"conv2d_codes",
       sequence({7, 6, 16}, Conv2D(16, 3, {.strides = 2, .padding = "same", .activation = "relu"}), Conv2D(17, 1)),
       {7, 6, 16}},
      {"conv2d_transpose", sequence({5, 4, 3}, Conv2DTranspose(6, 3, {.strides = 2})), {5, 4, 3}},
      {"conv3d", sequence({4, 5, 4, 2}, Conv3D(3, 2)), {4, 5, 4, 2}},
      {"depthwise", sequence({6, 6, 4}, DepthwiseConv2D({.kernel_size = 3, .depth_multiplier = 2})), {6, 6, 4}},
      {"separable", sequence({6, 6, 4}, SeparableConv2D(5, 3)), {6, 6, 4}},
      {"conv_lstm", sequence({3, 5, 5, 2}, ConvLSTM2D({.filters = 3, .kernel_size = 2})), {3, 5, 5, 2}},
  };
}

Runs runs_of(const Case& one) {
  Runs runs;
  for (const std::int64_t batch : {2, 3}) {
    Shape shape = one.sample;
    shape.insert(shape.begin(), batch);
    const bool integers = one.dtype == DType::int32;
    runs.push_back(
        {random_tensor(shape, one.dtype, static_cast<std::uint64_t>(batch), integers ? 0 : -1, integers ? 11 : 1)});
  }
  return runs;
}

std::string file_name(std::string text) {
  std::replace(text.begin(), text.end(), '/', '_');
  return text;
}

// Writes files of the model for ONNX Runtime, and compares what load_onnx() makes of them.
void check(Model& model, const std::string& name, const Runs& runs) {
  const Folder folder;
  for (const int opset : {17, 21}) {
    const std::string file = name + "_" + std::to_string(opset);
    write_case(model, file, runs, {.opset = opset});
    BOOST_TEST_CONTEXT(file) {
      export_onnx(model, folder.path("a.onnx"), {.opset = opset});
      const auto loaded = load_onnx(folder.path("a.onnx"));
      for (const auto& inputs : runs) {
        BOOST_TEST(largest_difference(loaded->predict(inputs[0]), model.predict(inputs[0])) < 1e-5);
      }
    }
  }
}

std::int64_t bytes_of(const std::string& path) { return static_cast<std::int64_t>(std::filesystem::file_size(path)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(exported_quantized)

BOOST_AUTO_TEST_CASE(every_quantized_layer_and_mode) {
  for (const std::string mode :
       {"int8", "int8/none", "int8/static", "int4", "int4/4", "int4/-1", "int4/4/dynamic", "gptq/4", "gptq/-1"}) {
    for (const Case& one : cases()) {  // layers of their own, since quantize() changes them
      const Any<Model> model = one.make();
      const Runs runs = runs_of(one);
      if (mode.rfind("gptq/", 0) == 0) {
        if (one.name != "dense" && one.name != "einsum" && one.name != "attention") continue;
        model->quantize("gptq", GPTQConfig{.dataset = {runs[0][0]}, .group_size = std::stoll(mode.substr(5))});
      } else {
        model->quantize(mode);
      }
      if (mode == "int8/static") {
        const bool products = one.name == "dense" || one.name == "einsum" || one.name == "untied" ||
                              one.name == "attention" || one.name == "conv2d" || one.name == "conv2d_codes" ||
                              one.name == "lstm" || one.name == "gru" || one.name == "simple_rnn";
        if (!products) continue;  // calibrate() finds no scales
        calibrate(*model, {runs[0][0]});
      }
      check(*model, "quantized_" + one.name + "_" + file_name(mode), runs);
    }
  }
}

BOOST_AUTO_TEST_CASE(codes_stay_integers_in_files) {
  const Folder folder;
  const auto written = [&](const char* mode, int opset) {
    Sequential model({Input({256}), Dense(256), Dense(255)});
    if (*mode != '\0') model.quantize(mode);
    export_onnx(model, folder.path("a.onnx"), {.opset = opset});
    return bytes_of(folder.path("a.onnx"));
  };
  const std::int64_t codes = 256 * 256 + 256 * 255;
  BOOST_TEST(written("", 17) > 4 * codes);
  for (const int opset : {17, 21}) {
    BOOST_TEST(written("int8", opset) < codes + 20'000);
    BOOST_TEST(written("int4", opset) < codes / 2 + 20'000);
    BOOST_TEST(written("int4/-1", opset) < codes / 2 + 20'000);
  }
}

BOOST_AUTO_TEST_CASE(products_in_float8_are_refused) {
  const Folder folder;
  Sequential model({Input({4}), Dense(3, {.name = "fc"})});
  model.quantize("float8");
  BOOST_CHECK_EXCEPTION(export_onnx(model, folder.path("a.onnx")), ValueError, [](const ValueError& e) {
    return std::string(e.what()) ==
           "[Dense \"fc\"] export_onnx: products in float8 can't be exported; load the weights into a model of floats "
           "first";
  });
}

BOOST_AUTO_TEST_CASE(rows_with_nan_are_nan_in_files) {
  const Folder folder;
  for (const char* mode : {"int8", "int8/static"}) {
    Sequential model({Input({4}), Dense(3)});
    model.quantize(mode);
    if (std::string(mode) == "int8/static") calibrate(model, {random_tensor({4, 4})});
    export_onnx(model, folder.path("a.onnx"));
    const float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
    const Tensor x({3, 4}, std::vector<float>{1, nan, 2, 0, 0, 0, 0, 0, 1, 2, infinite, 1});
    const std::vector<double> y = load_onnx(folder.path("a.onnx"))->predict(x).to_doubles();
    BOOST_TEST(std::isnan(y[0]));
    BOOST_TEST(y[3] == 0.0);
    // The graph of a CPU without products of integers takes inputs as floats.
    BOOST_TEST((has_int8_products() ? std::isnan(y[6]) : !std::isfinite(y[6])));
  }
}

BOOST_AUTO_TEST_SUITE_END()
