#include <boost/test/unit_test.hpp>

#include <cstdlib>

#include <mezzo/mezzo.hpp>

#include "parity.hpp"
#include "small.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// Checks that save_weights() writes exactly the recorded names, without a prefix, and shapes.
template <class M>
void check_names(const nlohmann::json& expected, M model, const std::string& prefix = "") {
  const Folder folder;
  model.build(recorded_inputs(expected, DType::float32)[0].shape());
  model.save_weights(folder.path("a"));
  const SafetensorsFile file(folder.path("a"));
  BOOST_TEST(file.entries().size() == expected.at("weights").size());
  for (const auto& weight : expected.at("weights")) {
    const auto name = weight.at(0).get<std::string>();
    BOOST_TEST_REQUIRE(name.rfind(prefix, 0) == 0U);
    const SafetensorsFile::Entry* entry = file.find(name.substr(prefix.size()));
    BOOST_TEST_REQUIRE((entry != nullptr), name);
    BOOST_TEST((entry->shape == weight.at(1).get<Shape>()), name);
    BOOST_TEST((entry->dtype == DType::float32), name);
  }
}

/// Loads a file of tests/parity/weight_files.py, compares outputs and saves the weights again.
template <class M>
void exchange(const std::string& folder, M model) {
  const SafetensorsFile expected(folder + "/expected.safetensors");
  Values inputs;
  for (std::string name = "x0"; expected.find(name) != nullptr; name = "x" + std::to_string(inputs.size())) {
    inputs.emplace_back(expected.read(name));
  }
  model.build(inputs.at(0).shape());
  model.load_weights(folder + "/torch.safetensors");
  const Values outputs = model(inputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const double difference = largest_difference(outputs[i].tensor(), expected.read("y" + std::to_string(i)));
    BOOST_TEST(difference < 1e-4);
    BOOST_TEST_MESSAGE(folder << ": output " << i << " off by " << difference);
  }
  model.save_weights(folder + "/mezzo.safetensors");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(weight_files)

BOOST_AUTO_TEST_CASE(names_and_shapes_are_torchs) {
  const nlohmann::json& resnets = recorded("resnet");
  const nlohmann::json& models = recorded("models");
  check_names(resnets.at("resnet18_64"), resnet18({.classes = resnets.at("resnet18_64").at("classes")}));
  check_names(resnets.at("resnet50_64"), resnet50({.classes = resnets.at("resnet50_64").at("classes")}));
  check_names(models.at("bert"), BertForSequenceClassification({.bert = small_bert(), .num_labels = 3}));
  check_names(models.at("gpt"), GPT(small_gpt()), "transformer.");
  check_names(models.at("vit"), ViT(small_vit()));
  check_names(models.at("lenet"), LeNet());
  check_names(models.at("mlp"), MLP({.hidden_units = {7, 6}, .classes = 4}));
  check_names(models.at("cnn"), CNN({.classes = 4}));
}

// tests/parity/weight_files.py sets the folder. Without it the case does nothing.
BOOST_AUTO_TEST_CASE(torchs_files_are_loaded_and_saved_again) {
  const char* given = std::getenv("MEZZO_WEIGHT_FILES");
  if (given == nullptr) return;
  const std::string folder = std::string(given) + "/";
  exchange(folder + "resnet18", resnet18({.classes = 37}));
  exchange(folder + "bert", Bert(small_bert()));
  exchange(folder + "gpt", GPT(small_gpt()));
  exchange(folder + "vit", ViT(small_vit()));
}

BOOST_AUTO_TEST_SUITE_END()
