#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <filesystem>
#include <set>

#include <mezzo/mezzo.hpp>

#include "parity.hpp"
#include "small.hpp"
#include "support/refused.hpp"

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

/// Loads a file of tests/parity/weight_files.py, compares outputs and saves the weights again, as mezzo.safetensors.
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
  BOOST_TEST_REQUIRE(!outputs.empty());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const double difference = largest_difference(outputs[i].tensor(), expected.read("y" + std::to_string(i)));
    BOOST_TEST(difference < 1e-4);
    BOOST_TEST_MESSAGE(folder << ": output " << i << " off by " << difference);
  }
  model.save_weights(folder + "/mezzo.safetensors");
}

/// Checks that each saved tensor has the name, shape and bits of one of torch's, less its `prefix`, and that only those
/// in `skipped` are left out.
void check_saved(const std::string& folder, const std::string& prefix = "", const std::set<std::string>& skipped = {}) {
  const SafetensorsFile given(folder + "/torch.safetensors"), saved(folder + "/mezzo.safetensors");
  for (const SafetensorsFile::Entry& entry : given.entries()) {
    if (skipped.count(entry.name) != 0) continue;
    BOOST_TEST_REQUIRE(entry.name.rfind(prefix, 0) == 0U, entry.name);
    const std::string name = entry.name.substr(prefix.size());
    BOOST_TEST_REQUIRE((saved.find(name) != nullptr), folder << ": " << name << " wasn't saved");
    BOOST_TEST(saved.read(name).equal(given.read(entry.name)), folder << ": " << name);
  }
  BOOST_TEST(saved.entries().size() + skipped.size() == given.entries().size());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(weight_files)

BOOST_AUTO_TEST_CASE(names_and_shapes_are_torchs) {
  const nlohmann::json& resnets = recorded("resnet");
  const nlohmann::json& models = recorded("models");
  check_names(resnets.at("resnet18_64"), resnet18({.classes = resnets.at("resnet18_64").at("classes")}));
  check_names(resnets.at("resnet50_64"), resnet50({.classes = resnets.at("resnet50_64").at("classes")}));
  check_names(models.at("bert"), BertForSequenceClassification({.bert = small_bert(), .num_labels = 3}));
  check_names(models.at("distilbert"),
              DistilBertForSequenceClassification({.distilbert = small_distilbert(), .num_labels = 3}));
  check_names(models.at("gpt"), GPT(small_gpt()), "transformer.");
  check_names(models.at("llama"), Llama(small_llama()));
  check_names(models.at("vit"), ViT(small_vit()));
  check_names(models.at("lenet"), LeNet());
  check_names(models.at("mlp"), MLP({.hidden_units = {7, 6}, .classes = 4}));
  check_names(models.at("cnn"), CNN({.classes = 4}));
}

// Takes the recorded files, or those in the folder that tests/parity/weight_files.py gives, with ResNet's beside them.
BOOST_AUTO_TEST_CASE(torchs_files_are_loaded_and_saved_again) {
  const Folder copy;
  const char* given = std::getenv("MEZZO_WEIGHT_FILES");
  const std::string folder = given != nullptr ? std::string(given) : copy.path("files");
  if (given == nullptr) {
    std::filesystem::copy(tests_dir() / "parity" / "recorded" / "weight_files", folder,
                          std::filesystem::copy_options::recursive);
  } else {
    exchange(folder + "/resnet18", resnet18({.classes = 37}));
  }
  exchange(folder + "/bert", Bert(small_bert()));
  exchange(folder + "/gpt", GPT(small_gpt()));
  exchange(folder + "/vit", ViT(small_vit()));
  check_saved(folder + "/bert");
  check_saved(folder + "/gpt", "transformer.", {"lm_head.weight"});  // a second copy of the embeddings
  check_saved(folder + "/vit");
}

BOOST_AUTO_TEST_CASE(what_a_file_tells_must_hold_for_the_model) {
  const Folder folder;
  const std::string at = "[safetensors \"" + folder.path("a") + "\"] does not fit ";
  BertOptions bert = small_bert();
  Bert saved(bert);
  saved.build({1, 4});
  saved.save_weights(folder.path("a"));
  bert.num_attention_heads = 2;
  Bert other(bert);
  other.build({1, 4});
  BOOST_TEST(refused<FileError>([&] {
               other.load_weights(folder.path("a"));
             }).find("num_heads must be 2; the file has 3") != std::string::npos);

  LlamaOptions options = small_llama();
  Llama untied(options);
  untied.build({1, 2});
  untied.save_weights(folder.path("a"));
  options.tie_word_embeddings = true;
  Llama tied(options);
  tied.build({1, 2});
  BOOST_TEST(
      refused<FileError>([&] { tied.load_weights(folder.path("a")); }) ==
      at + "[Llama]: tensor \"lm_head.weight\" must be a copy of \"model.embed_tokens.weight\", whose numbers the "
           "layer uses in its place; it has other numbers");
  untied.get_layer("lm_head").weights()[0].assign(
      transpose(untied.get_layer("embed_tokens").weights()[0].value(), Shape{1, 0}).tensor());
  untied.save_weights(folder.path("a"));
  tied.load_weights(folder.path("a"));

  LlamaOptions grouped = small_llama();
  grouped.num_key_value_heads = 1;
  grouped.num_attention_heads = 2;
  Llama fewer(grouped);
  fewer.build({1, 2});
  BOOST_TEST(refused<FileError>([&] {
               fewer.load_weights(folder.path("a"));
             }).find("num_attention_heads must be 2; the file has 4") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
