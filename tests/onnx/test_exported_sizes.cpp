// Models with open sizes beside the batch: files that tests/parity/onnx_export.py compares with ONNX Runtime.
#include "onnx/exported.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Inputs of these shapes, one run each.
Runs runs_of(const std::vector<std::vector<Shape>>& shapes) {
  Runs runs;
  for (const std::vector<Shape>& inputs : shapes) {
    runs.emplace_back();
    for (const Shape& shape : inputs) runs.back().push_back(random_tensor(shape, DType::float32, runs.back().size()));
  }
  return runs;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exported_sizes)

BOOST_AUTO_TEST_CASE(images_of_any_size) {
  const Input x({.shape = {-1, -1, 3}, .name = "image"});
  const Value features = Conv2D({.filters = 4, .kernel_size = {3, 3}, .strides = {2, 2}, .padding = "same"})(x);
  Model pooled(x, Dense({.units = 2})(GlobalAveragePooling2D()(BatchNormalization()(features))));
  const Runs runs = runs_of({{{2, 9, 12, 3}}, {{3, 16, 7, 3}}});
  write_case(pooled, "sizes_pooled", runs);
  Model same(x, AveragePooling2D({.pool_size = {3, 3}, .strides = {2, 2}, .padding = "same"})(
                    MaxPooling2D({.pool_size = {2, 2}, .padding = "same"})(x)));
  write_case(same, "sizes_same_pooling", runs);
  Model larger(x, UpSampling2D({.size = {2, 2}})(MaxPooling2D()(Conv2D({.filters = 4, .kernel_size = {3, 3}})(x))));
  write_case(larger, "sizes_upsampling", runs);
  Model transposed(x, Conv2DTranspose({.filters = 4, .kernel_size = {3, 3}, .strides = {2, 2}})(x));
  write_case(transposed, "sizes_transposed", runs);
  Model rows(x, Reshape({.target_shape = {-1, 4}})(Conv2D({.filters = 4, .kernel_size = {1, 1}})(x)));
  write_case(rows, "sizes_rows_of_pixels", runs);
  UNet unet({.n_classes = 2, .width = 4});
  unet.predict(Tensor({1, 32, 32, 3}));
  write_case(unet, "sizes_unet", runs_of({{{2, 32, 48, 3}}, {{1, 64, 32, 3}}}),
             {.dynamic_axes = {{"input", {{0, "batch"}, {1, "height"}, {2, "width"}}}}});
}

BOOST_AUTO_TEST_CASE(sequences_of_any_length) {
  const Input x({.shape = {-1, 4}, .name = "x"});
  const Runs runs = runs_of({{{2, 5, 4}}, {{3, 8, 4}}});
  const auto check = [&](const std::string& name, const Value& y) {
    Model model(x, y);
    write_case(model, "sizes_" + name, runs);
  };
  check("lstm", LSTM({.units = 3, .return_sequences = true})(x));
  check("bidirectional", Bidirectional(GRU({.units = 3}))(x));
  check("conv1d", GlobalMaxPooling1D()(Conv1D({.filters = 5, .kernel_size = 3, .padding = "causal"})(x)));
  check("upsampling", UpSampling1D({.size = 3})(x));
  check("padding", Cropping1D({.cropping = {1, 0}})(ZeroPadding1D({.padding = {2, 1}})(x)));
  check("self_attention", MultiHeadAttention({.num_heads = 2, .key_dim = 3})(x, x));
  check("distributed", TimeDistributed(Dense({.units = 2}))(x));
  check("positions", x + SinePositionEncoding()(x));
  check("group_norm", GroupNormalization({.groups = 2})(x));
}

BOOST_AUTO_TEST_CASE(two_lengths) {
  const Input query({.shape = {-1, 4}, .name = "query"}), value({.shape = {-1, 4}, .name = "value"});
  Model model({query, value}, {MultiHeadAttention({.num_heads = 2, .key_dim = 3, .name = "attention"})(query, value)});
  write_case(model, "sizes_attention", runs_of({{{2, 5, 4}, {2, 7, 4}}, {{3, 6, 4}, {3, 2, 4}}}));
  const auto file = exported(model);
  BOOST_TEST(text_of(file.graph().input(0)) == "query: 1 (batch, query_axis_1, 4)");
  BOOST_TEST(text_of(file.graph().input(1)) == "value: 1 (batch, value_axis_1, 4)");
  Model sum({query, value}, {Add({.name = "sum"})({query, value})});
  BOOST_TEST(text_of(exported(sum).graph().input(1)) == "value: 1 (batch, axis_1, 4)");
}

BOOST_AUTO_TEST_SUITE_END()
