// Convolutions of 1 to 3 spatial axes. Conv2D has a file of its own.
#include <mezzo/io/safetensors.hpp>
#include <mezzo/mezzo.hpp>

#include "parity.hpp"
#include "support/folder.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(convolutions)

BOOST_AUTO_TEST_CASE(equal_keras) {
  const RecordedLayer rows[] = {
      {"conv1d", [] { return Conv1D(3, 3); }},
      {"conv1d_same_strides_relu",
       [] { return Conv1D(3, 3, {.strides = 2, .padding = "same", .activation = "relu"}); }},
      {"conv1d_causal", [] { return Conv1D(2, 3, {.padding = "causal", .dilation_rate = 2}); }},
      {"conv1d_causal_strides", [] { return Conv1D(2, 2, {.strides = 3, .padding = "causal"}); }},
      {"conv1d_groups_without_bias",
       [] { return Conv1D(6, {.kernel_size = 2, .dilation_rate = 3, .groups = 2, .use_bias = false}); }},
      {"conv3d", [] { return Conv3D(3, 2); }},
      {"conv3d_same_strides",
       [] {
         return Conv3D(2, {1, 3, 2}, {.strides = {2, 1, 2}, .padding = "same"});
       }},
      {"conv3d_dilated_groups",
       [] {
         return Conv3D(4, 2, {.dilation_rate = {3, 2, 1}, .groups = 2, .activation = "tanh"});
       }},
      {"conv1d_transpose", [] { return Conv1DTranspose(3, 3); }},
      {"conv1d_transpose_same",
       [] { return Conv1DTranspose(2, 3, {.strides = 2, .padding = "same", .activation = "relu"}); }},
      {"conv1d_transpose_output_padding",
       [] { return Conv1DTranspose(2, 2, {.strides = 3, .output_padding = 1, .use_bias = false}); }},
      {"conv1d_transpose_dilated", [] { return Conv1DTranspose(2, 3, {.dilation_rate = 2}); }},
      {"conv3d_transpose",
       [] {
         return Conv3DTranspose(2, 2, {.strides = {1, 2, 2}});
       }},
      {"conv3d_transpose_same",
       [] {
         return Conv3DTranspose(3, {2, 1, 3}, {.strides = 2, .padding = "same"});
       }},
      {"conv3d_transpose_output_padding",
       [] {
         return Conv3DTranspose(2, 3, {.strides = 2, .padding = "same", .output_padding = {1, 0, 1}});
       }},
      {"depthwise_conv1d", [] { return DepthwiseConv1D(3, {.padding = "same", .depth_multiplier = 2}); }},
      {"depthwise_conv1d_strides",
       [] { return DepthwiseConv1D(2, {.strides = 2, .activation = "relu", .use_bias = false}); }},
      {"depthwise_conv2d", [] { return DepthwiseConv2D(3); }},
      {"depthwise_conv2d_same",
       [] {
         return DepthwiseConv2D({3, 2}, {.strides = 2, .padding = "same", .depth_multiplier = 3});
       }},
      {"depthwise_conv2d_dilated",
       [] {
         return DepthwiseConv2D({.kernel_size = {2, 3}, .dilation_rate = {3, 2}, .activation = "tanh"});
       }},
      {"separable_conv1d", [] { return SeparableConv1D(5, 3, {.dilation_rate = 2, .depth_multiplier = 2}); }},
      {"separable_conv1d_same",
       [] { return SeparableConv1D(2, 2, {.strides = 2, .padding = "same", .use_bias = false}); }},
      {"separable_conv2d", [] { return SeparableConv2D({.filters = 3, .kernel_size = 3}); }},
      {"separable_conv2d_same",
       [] {
         return SeparableConv2D(3, {2, 3},
                                {.strides = 2, .padding = "same", .depth_multiplier = 2, .activation = "relu"});
       }},
  };
  for (const RecordedLayer& row : rows) check_recorded(row.name, row.make, "spatial_layers");
}

// In float64, in 16 bits, and with an unknown batch.
BOOST_AUTO_TEST_CASE(shapes_policies_and_other_names) {
  struct Row {
    std::function<Any<Layer>(const Policy&)> make;
    Shape input, expected;
  };
  const Row rows[] = {
      {[](const Policy& p) { return Convolution1D(5, 3, {.strides = 2, .padding = "causal", .dtype = p}); },
       {9, 4},
       {5, 5}},
      {[](const Policy& p) { return Convolution3D(5, 2, {.dtype = p}); }, {4, 3, 5, 4}, {3, 2, 4, 5}},
      {[](const Policy& p) { return Convolution1DTranspose(3, 3, {.strides = 2, .padding = "same", .dtype = p}); },
       {5, 4},
       {10, 3}},
      {[](const Policy& p) { return Convolution2DTranspose(3, 3, {.strides = 2, .dtype = p}); }, {4, 3, 4}, {9, 7, 3}},
      {[](const Policy& p) { return Convolution3DTranspose(3, 2, {.strides = 2, .dtype = p}); },
       {2, 3, 4, 4},
       {4, 6, 8, 3}},
      {[](const Policy& p) { return DepthwiseConv1D(3, {.depth_multiplier = 2, .dtype = p}); }, {6, 4}, {4, 8}},
      {[](const Policy& p) { return DepthwiseConv2D(3, {.strides = 2, .padding = "same", .dtype = p}); },
       {5, 6, 4},
       {3, 3, 4}},
      {[](const Policy& p) { return SeparableConvolution1D(7, 3, {.dtype = p}); }, {6, 4}, {4, 7}},
      {[](const Policy& p) { return SeparableConvolution2D(7, 3, {.padding = "same", .dtype = p}); },
       {5, 6, 4},
       {5, 6, 7}},
      {[](const Policy& p) { return Convolution2D(5, 3, {.dtype = p}); }, {5, 6, 4}, {3, 4, 5}},
  };
  const auto batch = [](std::int64_t size, Shape shape) {
    shape.insert(shape.begin(), size);
    return shape;
  };
  for (const Row& row : rows) {
    const Tensor x = RandomNormal().make(batch(2, row.input), DType::float32, 1);
    const auto run = [&](const char* policy) {
      seed_everything(1);
      const Any<Layer> layer = row.make(policy);
      const Value y = (*layer)(Value(x));
      BOOST_TEST((layer->weights()[0].dtype() == (std::string(policy) == "float64" ? DType::float64 : DType::float32)));
      return y;
    };
    const Value exact = run("float64");
    BOOST_TEST((exact.shape() == batch(2, row.expected)));
    // Operands are rounded, each by half a unit in the last place, and so is the result.
    BOOST_TEST(largest_difference(run("mixed_bfloat16").tensor(), exact.tensor()) <= 0.03);
    BOOST_TEST(largest_difference(run("mixed_float16").tensor(), exact.tensor()) <= 0.004);
    BOOST_TEST((run("mixed_bfloat16").dtype() == DType::bfloat16));
    const Any<Layer> layer = row.make("float32");
    BOOST_TEST(((*layer)(Input(row.input)).shape() == batch(-1, row.expected)));
    const Value none = (*layer)(Value(Tensor(batch(0, row.input))));
    BOOST_TEST((none.shape() == batch(0, row.expected)));
  }
}

// A causal output doesn't change with later inputs.
BOOST_AUTO_TEST_CASE(causal_outputs_depend_on_earlier_steps) {
  Conv1D layer(2, 3, {.padding = "causal", .dilation_rate = 2});
  Tensor x = RandomNormal().make({1, 8, 3}, DType::float32, 1);
  const std::vector<double> before = layer(Value(x)).tensor().to_doubles();
  std::vector<double> changed = x.to_doubles();
  for (std::size_t i = 15; i < changed.size(); ++i) changed[i] = 9;  // from step 5 on
  const std::vector<double> after = layer(Value(Tensor({1, 8, 3}, changed))).tensor().to_doubles();
  BOOST_TEST(std::equal(before.begin(), before.begin() + 10, after.begin()));
  BOOST_TEST(before[10] != after[10]);
}

BOOST_AUTO_TEST_CASE(regularizers_constraints_and_trainable) {
  DepthwiseConv2D depthwise(2, {.depthwise_initializer = "ones",
                                .depthwise_regularizer = L2(0.5),
                                .activity_regularizer = L1(1.0),
                                .depthwise_constraint = NonNeg()});
  depthwise(Value(Tensor({1, 2, 2, 3})));
  BOOST_TEST_REQUIRE(depthwise.losses().size() == 2);
  BOOST_TEST(depthwise.added_loss().item() == 0.5 * 12);
  SeparableConv1D separable(2, 2, {.pointwise_initializer = "ones", .pointwise_regularizer = L1(1.0)});
  separable(Value(Tensor({1, 4, 3})));
  BOOST_TEST(separable.added_loss().item() == 6);
  BOOST_TEST(Conv3D(2, 2, {.trainable = false}).trainable() == false);
}

// Names, order of axes and merged axes of torch.
BOOST_AUTO_TEST_CASE(weight_files_have_torchs_layouts) {
  const Folder folder;
  const auto check = [&](const Any<Layer>& layer, const Shape& input, const std::map<std::string, Shape>& expected) {
    (*layer)(Value(Tensor(input)));
    const std::string path = folder.path("weights.safetensors");
    layer->save_weights(path);
    std::map<std::string, Shape> found;
    const SafetensorsFile file(path);
    for (const SafetensorsFile::Entry& entry : file.entries()) found[entry.name] = entry.shape;
    BOOST_TEST((found == expected));
    const std::vector<Tensor> saved = layer->get_weights();
    std::vector<Tensor> others;
    for (const Tensor& weight : saved) others.push_back(Tensor(weight.shape()));
    layer->set_weights(others);
    layer->load_weights(path);
    for (std::size_t i = 0; i < saved.size(); ++i) BOOST_TEST(layer->get_weights()[i].equal(saved[i]));
  };
  check(Conv1D(6, 3, {.groups = 2}), {1, 4, 4}, {{"weight", {6, 2, 3}}, {"bias", {6}}});
  check(Conv3D(5, {1, 2, 3}), {1, 4, 4, 4, 2}, {{"weight", {5, 2, 1, 2, 3}}, {"bias", {5}}});
  check(Conv1DTranspose(5, 3), {1, 4, 2}, {{"weight", {2, 5, 3}}, {"bias", {5}}});
  check(Conv3DTranspose(5, {1, 2, 3}), {1, 4, 4, 4, 2}, {{"weight", {2, 5, 1, 2, 3}}, {"bias", {5}}});
  check(DepthwiseConv1D(3, {.depth_multiplier = 4}), {1, 4, 2}, {{"weight", {8, 1, 3}}, {"bias", {8}}});
  check(SeparableConv2D(5, {2, 3}, {.depth_multiplier = 4}), {1, 4, 4, 2},
        {{"depthwise.weight", {8, 1, 2, 3}}, {"pointwise.weight", {5, 8, 1, 1}}, {"pointwise.bias", {5}}});
  // Row i of the file makes output channel i.
  DepthwiseConv2D layer(1, {.depth_multiplier = 2, .use_bias = false});
  layer(Value(Tensor({1, 1, 1, 3})));
  const std::string path = folder.path("rows.safetensors");
  save_safetensors(path, {{"weight", Tensor({6, 1, 1, 1}, std::vector<float>{1, 2, 3, 4, 5, 6})}}, {});
  layer.load_weights(path);
  const Tensor y = layer(ones({1, 1, 1, 3})).tensor();
  BOOST_TEST(y.to_doubles() == (std::vector<double>{1, 2, 3, 4, 5, 6}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(bad_options_are_refused) {
  BOOST_TEST(refused<ValueError>([] { Conv1D({.kernel_size = 3}); }) == "[Conv1D] filters must be at least 1; got 0");
  BOOST_TEST(refused<ValueError>([] {
               Conv1D(2, {3, 3});
             }) == "[Conv1D] kernel_size must be one number of at least 1; got (3, 3)");
  BOOST_TEST(refused<ValueError>([] {
               Conv3D(2, {3, 3});
             }) == "[Conv3D] kernel_size must be one or three numbers of at least 1; got (3, 3)");
  BOOST_TEST(refused<ValueError>([] { Conv3D(3, 2, {.groups = 2}); }) ==
             "[Conv3D] filters must be a multiple of groups (2); got 3");
  BOOST_TEST(refused<ValueError>([] { Conv1D(3, 2, {.groups = 0}); }) == "[Conv1D] groups must be at least 1; got 0");
  BOOST_TEST(refused<NameError>([] { Conv1D(2, 3, {.padding = "full"}); }) ==
             "[Conv1D] unknown padding \"full\"; valid names: causal, same, valid");
  BOOST_TEST(refused<NameError>([] { Conv3D(2, 3, {.padding = "causal"}); }) ==
             "[Conv3D] unknown padding \"causal\"; valid names: same, valid");
  BOOST_TEST(refused<ValueError>([] { Conv1D(2, 3, {.filters = 2}); }) ==
             "[Conv1D] filters is given twice: once without a name and once as .filters");
  BOOST_TEST(refused<ValueError>([] { Conv1DTranspose(2, 3, {.strides = 2, .output_padding = 2}); }) ==
             "[Conv1DTranspose] output_padding must be less than strides, (2,); got (2,)");
  BOOST_TEST(refused<NameError>([] { Conv3DTranspose(2, 3, {.padding = "causal"}); }) ==
             "[Conv3DTranspose] unknown padding \"causal\"; valid names: same, valid");
  BOOST_TEST(refused<ValueError>([] { DepthwiseConv2D(3, {.depth_multiplier = 0}); }) ==
             "[DepthwiseConv2D] depth_multiplier must be at least 1; got 0");
  BOOST_TEST(refused<ValueError>([] { DepthwiseConv1D(); }) ==
             "[DepthwiseConv1D] kernel_size must be one number of at least 1; got ()");
  BOOST_TEST(refused<NameError>([] { DepthwiseConv1D(3, {.padding = "causal"}); }) ==
             "[DepthwiseConv1D] unknown padding \"causal\"; valid names: same, valid");
  BOOST_TEST(refused<ValueError>([] { SeparableConv2D(-1, 3); }) ==
             "[SeparableConv2D] filters must be at least 1; got -1");
  BOOST_TEST(refused<ValueError>([] { SeparableConv1D(2, 3, {.dilation_rate = 0}); }) ==
             "[SeparableConv1D] dilation_rate must be one number of at least 1; got (0,)");
}

BOOST_AUTO_TEST_CASE(bad_inputs_are_refused) {
  const auto text = [](const Any<Layer>& layer, const Shape& shape) {
    return refused<ShapeError>([&] { (*layer)(Value(Tensor(shape))); });
  };
  BOOST_TEST(text(Conv1D(2, 3, {.name = "words"}), {4, 5}) ==
             "[Conv1D \"words\"] input must have rank 3 (batch, steps, channels); got shape (4, 5): add a batch axis "
             "if this is one sample");
  BOOST_TEST(text(Conv3D(2, 3), {1, 4, 5, 6}) ==
             "[Conv3D] input must have rank 5 (batch, depth, height, width, channels); got shape (1, 4, 5, 6): add a "
             "batch axis if this is one sample");
  BOOST_TEST(text(Conv1D(2, 4), {1, 3, 2}) ==
             "[Conv1D] input axis 1 must be at least 4 (kernel 4); got shape (1, 3, 2)");
  BOOST_TEST(text(Conv1D(4, 1, {.groups = 2}), {1, 3, 3}) ==
             "[Conv1D] input axis -1 must be a multiple of groups (2); got shape (1, 3, 3)");
  Conv1D grouped(6, 1, {.groups = 2});
  grouped(Value(Tensor({1, 3, 4})));
  BOOST_TEST(text(grouped, {1, 3, 6}) == "[Conv1D] input axis -1 must be 4 (kernel channels); got shape (1, 3, 6)");
  SeparableConv2D separable(2, 1);
  separable(Value(Tensor({1, 3, 3, 4})));
  BOOST_TEST(text(separable, {1, 3, 3, 2}) ==
             "[SeparableConv2D] input axis -1 must be 4 (channels of depthwise_kernel); got shape (1, 3, 3, 2)");
  BOOST_TEST(refused<ShapeError>([] {
               Conv1D(2, 3)(Input({4, -1}));
             }) == "[Conv1D] input axis -1 must have a known size; got shape (?, 4, ?)");
}

BOOST_AUTO_TEST_SUITE_END()
