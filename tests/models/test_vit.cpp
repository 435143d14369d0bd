#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "small.hpp"
#include "support/folder.hpp"
#include "support/layers.hpp"
#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(vit)

BOOST_AUTO_TEST_CASE(sizes_are_torchvisions) {
  struct Size {
    ViT (*make)(ViTOptions);
    std::int64_t patch, layers, hidden, heads;
  };
  for (const Size& size :
       {Size{vit_b_16, 16, 12, 768, 12}, Size{vit_b_32, 32, 12, 768, 12}, Size{vit_l_16, 16, 24, 1024, 16},
        Size{vit_l_32, 32, 24, 1024, 16}, Size{vit_h_14, 14, 32, 1280, 16}}) {
    const ViTOptions options = size.make({.classes = 37}).options();
    BOOST_TEST(options.image_size == 224);
    BOOST_TEST(options.patch_size == size.patch);
    BOOST_TEST(options.num_layers == size.layers);
    BOOST_TEST(options.hidden_dim == size.hidden);
    BOOST_TEST(options.mlp_dim == 4 * size.hidden);
    BOOST_TEST(options.num_heads == size.heads);
    BOOST_TEST(options.classes == 37);
  }
}

// torchvision's initial values: an untrained model gives the same logits for all images.
BOOST_AUTO_TEST_CASE(initial_values_are_drawn_as_torchvisions) {
  ViTOptions options = small_vit();
  options.hidden_dim = 96;
  options.mlp_dim = 400;
  ViT model(options);
  model.build({1, 8, 8, 3});
  const std::map<std::string, Tensor> values = values_of(model);
  const auto deviation = [&](const std::string& path) {
    return std::sqrt(dot(values.at(path), values.at(path)) / static_cast<double>(values.at(path).size()));
  };
  // The relative error of a standard deviation from n numbers is 1 / sqrt(2 n).
  BOOST_TEST(deviation("conv_proj/kernel") == 1 / std::sqrt(48.0), boost::test_tools::tolerance(4e-2));
  BOOST_TEST(deviation("pos_embedding") == 0.02, boost::test_tools::tolerance(0.13));
  BOOST_TEST(deviation("layer0/self_attention/in_proj/kernel") == std::sqrt(2.0 / (4 * 96)),
             boost::test_tools::tolerance(2e-2));
  BOOST_TEST(deviation("layer0/self_attention/out_proj/kernel") == std::sqrt(1 / (3 * 96.0)),
             boost::test_tools::tolerance(3e-2));
  BOOST_TEST(deviation("layer1/linear_1/kernel") == std::sqrt(2.0 / (96 + 400)), boost::test_tools::tolerance(2e-2));
  BOOST_TEST(deviation("layer1/linear_1/bias") == 1e-6, boost::test_tools::tolerance(0.15));
  for (const char* path : {"class_token", "conv_proj/bias", "layer0/self_attention/in_proj/bias", "head/kernel"}) {
    BOOST_TEST(deviation(path) == 0, path);
  }
}

BOOST_AUTO_TEST_CASE(it_is_called_on_symbols_and_cloned) {
  const Tensor x = random_tensor({3, 8, 8, 3});
  ViT model(small_vit());
  model.build(x.shape());
  for (const Variable& weight : model.weights()) weight.assign(random_tensor(weight.shape()));
  const Tensor expected = model.predict(x);
  const Value input = Input({.shape = {8, 8, 3}});
  const Value output = model(input);
  BOOST_TEST((output.shape() == Shape{-1, 5}));
  BOOST_TEST(Model({.inputs = {input}, .outputs = {output}}).predict(x).equal(expected));
  ViT copy = clone(model);
  for (const Variable& weight : model.weights()) weight.assign(Tensor(weight.shape()));
  BOOST_TEST(copy.predict(x).equal(expected));
}

BOOST_AUTO_TEST_CASE(features_are_those_before_the_classifier) {
  const Folder folder;
  const Tensor x = random_tensor({3, 8, 8, 3});
  ViT whole(small_vit());
  whole.build(x.shape());
  for (const Variable& weight : whole.weights()) weight.assign(random_tensor(weight.shape()));
  whole.save_weights(folder.path("vit.safetensors"));
  const auto features = [&](const std::string& pooling) {
    ViTOptions options = small_vit();
    options.include_top = false;
    options.pooling = pooling;
    ViT model(options);
    model.load_weights(folder.path("vit.safetensors"));
    return model.predict(x);
  };
  const Tensor all_positions = features(""), token = features("token"), means = features("avg");
  BOOST_TEST((all_positions.shape() == Shape{3, 5, 12}));
  BOOST_TEST(token.equal(Value(all_positions)(all, 0).tensor()));
  const Value patches = Value(all_positions)(all, slice(1, 5));
  BOOST_TEST(largest_difference(means, mean(patches, {.axes = {1}}).tensor()) < 1e-6);
  const std::map<std::string, Tensor> weights = values_of(whole);
  const Tensor logits = (matmul(token, weights.at("head/kernel")) + weights.at("head/bias")).tensor();
  BOOST_TEST(largest_difference(logits, whole.predict(x)) < 1e-4);
}

BOOST_AUTO_TEST_CASE(bad_calls_are_refused) {
  BOOST_TEST(refused<NameError>([] { vit_b_16({.include_top = false, .pooling = "max"}); }) ==
             "[ViT] unknown pooling \"max\"; valid names: token, avg");
  BOOST_TEST(refused<ValueError>([] { vit_b_16({.pooling = "token"}); }) ==
             "[ViT] pooling needs include_top = false; got \"token\" with the classifier");
  BOOST_TEST(refused<ValueError>([] { vit_b_16({.classes = 0}); }) == "[ViT] classes must be at least 1; got 0");
  BOOST_TEST(refused<ValueError>([] { vit_b_16({.image_size = 225, .name = "net"}); }) ==
             "[ViT \"net\"] patch_size must divide image_size; got 16 and 225");
  BOOST_TEST(refused<ValueError>([] { ViT({.num_heads = 5}); }) ==
             "[ViT] num_heads must divide hidden_dim; got 5 and 768");
  ViT model(small_vit());
  BOOST_TEST(refused<ShapeError>([&] {
               model(Tensor({1, 8, 9, 3}));
             }) == "[ViT] images must be 8 x 8; got shape (1, 8, 9, 3)");
  BOOST_TEST(refused<ShapeError>([&] {
               model(Tensor({8, 8, 3}));
             }).find("(batch, height, width, channels)") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
