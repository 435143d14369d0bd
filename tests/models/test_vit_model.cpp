// ViT with Hugging Face's structure; test_vision_folders compares its outputs.
#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "small.hpp"
#include "support/folder.hpp"
#include "support/layers.hpp"
#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

std::string text_of(ViTModelOptions options) {
  return refused<Error>([&] { ViTModel{std::move(options)}; });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(vit_model)

BOOST_AUTO_TEST_CASE(outputs_have_the_shapes_of_hugging_faces) {
  ViTModel model(small_vit_model());
  const Values out = model(Values{Tensor({3, 8, 8, 1})});
  BOOST_TEST_REQUIRE(out.size() == 2U);
  BOOST_TEST((out[0].shape() == Shape{3, 5, 12} && out[1].shape() == Shape{3, 12}));
  ViTModelOptions options = small_vit_model();
  options.add_pooling_layer = false;
  BOOST_TEST(ViTModel(options)(Values{Tensor({3, 8, 8, 1})}).size() == 1U);
  ViTForImageClassification classifier({.vit = small_vit_model(), .num_labels = 4});
  BOOST_TEST((classifier(Input({8, 8, 1})).shape() == Shape{-1, 4}));
}

BOOST_AUTO_TEST_CASE(wrong_options_and_images_are_refused) {
  const auto changed = [](auto change) {
    ViTModelOptions options = small_vit_model();
    options.name = "v";
    change(options);
    return text_of(options);
  };
  BOOST_TEST(changed([](auto& o) { o.num_attention_heads = 5; }) ==
             "[ViTModel \"v\"] num_attention_heads must divide hidden_size; got 5 and 12");
  BOOST_TEST(changed([](auto& o) { o.patch_size = 3; }) ==
             "[ViTModel \"v\"] patch_size must divide image_size; got 3 and 8");
  BOOST_TEST(changed([](auto& o) { o.hidden_act = "x"; }).rfind("[ViTModel \"v\"] unknown hidden_act \"x\"", 0) == 0U);
  BOOST_TEST(changed([](auto& o) { o.pooler_output_size = -1; }) ==
             "[ViTModel \"v\"] pooler_output_size must be at least 1; got -1");
  ViTModel model(small_vit_model());
  BOOST_TEST(refused<ShapeError>([&] {
               model(Values{Tensor({1, 8, 8, 3})});
             }) == "[ViTModel] images must be 8 x 8 x 1; got shape (1, 8, 8, 3)");
}

BOOST_AUTO_TEST_CASE(files_of_other_numbers_of_heads_are_refused) {
  const Folder folder;
  ViTModel model(small_vit_model());
  model.build({1, 8, 8, 1});
  model.save_weights(folder.path("a"));
  ViTModelOptions options = small_vit_model();
  options.num_attention_heads = 4;
  ViTModel other(options);
  other.build({1, 8, 8, 1});
  BOOST_TEST(refused<FileError>([&] {
               other.load_weights(folder.path("a"));
             }).find("num_heads must be 4; the file has 3") != std::string::npos);
  ViTForImageClassification classifier({.vit = small_vit_model()});
  classifier.build({1, 8, 8, 1});
  const LoadWeightsReport report =
      classifier.load_weights(folder.path("a"), {.strict = false, .rename = {{"^", "vit."}}});
  BOOST_TEST((report.missing_keys == std::vector<std::string>{"classifier.weight", "classifier.bias"}));
}

BOOST_AUTO_TEST_SUITE_END()
