// Folders of models for images that tests/parity/vision_folders.py recorded: of transformers and of timm.
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <filesystem>

#include <mezzo/mezzo.hpp>

#include "formula.hpp"
#include "support/folder.hpp"
#include "support/recorded.hpp"
#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using nlohmann::json;

void write_config(const std::string& folder, const json& config) {
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/config.json") << config.dump(2);
}

/// Weights of a case, as the folder has them.
NamedTensors weights_of(const json& one) {
  NamedTensors out;
  for (const json& weight : one.at("weights")) {
    const auto name = weight[0].get<std::string>();
    out.emplace_back(name, weight_by_formula(name, weight[1].get<Shape>(), static_cast<std::uint32_t>(out.size()),
                                             one.at("beta").get<double>()));
  }
  return out;
}

/// Writes the folder of a case, in shards.
std::string folder_of(const Folder& folder, const std::string& name) {
  const json& one = recorded("vision_folders").at(name);
  write_config(folder.path(name), one.at("config"));
  save_safetensors(folder.path(name + "/model.safetensors"), weights_of(one), {{"format", "pt"}}, {"10MB"});
  return folder.path(name);
}

/// Compares with the outputs of a case, relative to their largest.
void check_outputs(Model& model, const std::string& name, const std::vector<Tensor>& expected) {
  const Values got = model(Values{images(recorded("vision_folders").at(name).at("shape").get<Shape>())});
  BOOST_TEST_REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::vector<double> x = got[i].tensor().to_doubles(), y = expected[i].to_doubles();
    BOOST_TEST_REQUIRE(x.size() == y.size());
    double largest = 0, off = 0;
    for (std::size_t at = 0; at < x.size(); ++at) {
      largest = std::max(largest, std::abs(y[at]));
      off = std::max(off, std::abs(x[at] - y[at]));
    }
    BOOST_TEST(off <= 1e-5 * std::max(1.0, largest),
               name << ": output " << i << " off by " << off << " of " << largest);
  }
}

std::vector<Tensor> recorded_outputs(const std::string& name) {
  std::vector<Tensor> out;
  for (const json& one : recorded("vision_folders").at(name).at("outputs")) {
    const auto numbers = one.get<std::vector<double>>();
    out.emplace_back(Shape{static_cast<std::int64_t>(numbers.size())}, numbers);
  }
  return out;
}

/// Checks that a saved folder has the tensors of another one, and a config that has the same values.
void check_saved(const std::string& folder, const std::string& original) {
  const SafetensorsFile saved(folder + "/model.safetensors"), expected(original + "/model.safetensors");
  for (const std::string& name : expected.names()) {
    BOOST_TEST_REQUIRE((saved.find(name) != nullptr), name);
    BOOST_TEST(saved.read(name).equal(expected.read(name)), name);
  }
  for (const std::string& name : saved.names()) {
    BOOST_TEST((expected.find(name) != nullptr || name.find("num_batches_tracked") != name.npos), name);
  }
  json before, after;
  std::ifstream(original + "/config.json") >> before;
  std::ifstream(folder + "/config.json") >> after;
  for (const auto& [key, value] : before.items()) BOOST_TEST(after[key] == value, key << ": " << after[key]);
}

/// Reads a folder, compares outputs, saves it as its folder "mezzo" and reads that.
template <class M>
void exchange(const std::string& folder, const std::string& name, const std::vector<Tensor>& expected) {
  BOOST_TEST_CONTEXT(name) {
    Pretrained<M> read = from_pretrained<M>(folder, {.strict = true});
    check_outputs(read.model, name, expected);
    save_pretrained(read, folder + "/mezzo");
    check_saved(folder + "/mezzo", folder);
    Pretrained<M> again = from_pretrained<M>(folder + "/mezzo", {.strict = true});
    check_outputs(again.model, name, expected);
    const auto automatic = auto_model(folder, {.strict = true});
    BOOST_TEST((dynamic_cast<const M*>(&*automatic.model) != nullptr));
  }
}

/// Error of a recorded folder with other values in its config.
std::string text_of_changed(const std::string& name, const json& changes) {
  const Folder folder;
  const std::string path = folder_of(folder, name);
  json config = recorded("vision_folders").at(name).at("config");
  config.update(changes);
  write_config(path, config);
  const std::string text = refused<FileError>([&] { auto_model(path); });
  const std::string label = "[from_pretrained \"" + path + "/config.json\"] ";
  return text.rfind(label, 0) == 0 ? text.substr(label.size()) : text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(vision_folders)

// Takes the recorded cases, or the folders that tests/parity/vision_folders.py gives.
BOOST_AUTO_TEST_CASE(folders_of_others_are_read_and_saved_again) {
  const Folder own;
  const char* const given = std::getenv("MEZZO_VISION_FOLDERS");
  const auto run = [&](const std::string& name, const auto& with) {
    if (given == nullptr) return with(folder_of(own, name), name, recorded_outputs(name));
    std::vector<Tensor> expected;
    const std::string folder = std::string(given) + "/" + name;
    for (const auto& [output, numbers] : load_safetensors(folder + "/expected.safetensors"))
      expected.push_back(numbers);
    with(folder, name, expected);
  };
  run("vit", exchange<ViTModel>);
  run("vit_classifier", exchange<ViTForImageClassification>);
  for (const char* name : {"resnet_basic", "resnet_bottleneck", "timm_resnet18", "timm_resnet50"})
    run(name, exchange<ResNet>);
  for (const char* name : {"mobilenet_v2", "mobilenet_v2_odd", "timm_mobilenetv2_035"})
    run(name, exchange<MobileNetV2>);
}

// A changed value either fits no weight, or is one that mezzo can't compute, or changes the outputs.
BOOST_AUTO_TEST_CASE(changed_configs_are_noticed) {
  BOOST_TEST(text_of_changed("vit", {{"num_attention_heads", 3}}) ==
             "[ViTModel] num_attention_heads must divide hidden_size; got 3 and 8");
  BOOST_TEST(text_of_changed("vit", {{"hidden_act", "laplace"}}).find("hidden_act") == 0U);
  BOOST_TEST(text_of_changed("vit", {{"image_size", 16}}).find("position_embeddings") != std::string::npos);
  BOOST_TEST(text_of_changed("vit_classifier", {{"qkv_bias", true}}).find("missing tensor") != std::string::npos);
  for (const char* name : {"resnet_basic", "mobilenet_v2"})
    BOOST_TEST(text_of_changed(name, {{"hidden_act", "gelu"}}).find("hidden_act must be ") == 0U, name);
  BOOST_TEST(text_of_changed("resnet_basic", {{"layer_type", "bottleneck"}}) != "");
  BOOST_TEST(text_of_changed("resnet_basic", {{"downsample_in_first_stage", true}}) ==
             "downsample_in_first_stage must be false; got true");
  BOOST_TEST(text_of_changed("resnet_basic", {{"depths", {1, 2, 1}}}) ==
             "depths must be a list of 4 integers from 1 to 1048576; got [1,2,1]");
  BOOST_TEST(text_of_changed("mobilenet_v2", {{"expand_ratio", 4}}) == "expand_ratio must be 6; got 4");
  BOOST_TEST(text_of_changed("mobilenet_v2", {{"depth_multiplier", 0.25}}) ==
             "depth_multiplier must be a number from 0.28 on; got 0.25");
  BOOST_TEST(text_of_changed("timm_resnet18", {{"architecture", "resnet34"}}).find("missing tensor \"layer1.2.") !=
             std::string::npos);
  BOOST_TEST(text_of_changed("timm_resnet18", {{"global_pool", "max"}}) == "global_pool must be \"avg\"; got \"max\"");
  BOOST_TEST(text_of_changed("timm_resnet18", {{"num_features", 256}}) == "num_features must be 512; got 256");
  BOOST_TEST(text_of_changed("timm_resnet18", {{"model_args", {{"act_layer", "gelu"}}}}) ==
             "model_args must be an object with the key in_chans alone; got {\"act_layer\":\"gelu\"}");
}

// The numbers of heads, the activation, the epsilon and the padding don't show in the shapes of weights.
BOOST_AUTO_TEST_CASE(values_that_shapes_do_not_show_change_outputs) {
  const auto outputs_change = [](const std::string& name, const json& changes) {
    const Folder folder;
    const std::string path = folder_of(folder, name);
    const auto before = auto_model(path);
    json config = recorded("vision_folders").at(name).at("config");
    config.update(changes);
    write_config(path, config);
    const auto after = auto_model(path);
    const Values image{images(recorded("vision_folders").at(name).at("shape").get<Shape>())};
    return !(*before.model)(image).front().tensor().equal((*after.model)(image).front().tensor());
  };
  for (const json& change :
       {json{{"num_attention_heads", 4}}, json{{"hidden_act", "relu"}}, json{{"layer_norm_eps", 0.1}}}) {
    BOOST_TEST(outputs_change("vit", change), change);
  }
  BOOST_TEST(outputs_change("mobilenet_v2", {{"tf_padding", false}}));
  BOOST_TEST(outputs_change("mobilenet_v2", {{"layer_norm_eps", 0.1}}));
}

BOOST_AUTO_TEST_SUITE_END()
