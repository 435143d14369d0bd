#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>

#include <mezzo/mezzo.hpp>

#include "pretrained.hpp"
#include "support/captured.hpp"
#include "support/recorded.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void write_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

/// A tokenizer.json with a few words.
void write_tokenizer(const RecordedFolder& folder) {
  write_text(folder.path("tokenizer.json"), recorded("tokenizers/words").at("tokenizer").dump());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pretrained_reading)

BOOST_AUTO_TEST_CASE(heads_of_other_tasks_are_left_out_with_a_warning) {
  const RecordedFolder folder("bert_classifier");
  const CapturedOutput output;
  Pretrained<Bert> read = from_pretrained<Bert>(folder.path());
  BOOST_TEST(read.report.weights.missing_keys.empty());
  BOOST_TEST(read.report.weights.unexpected_keys == (std::vector<std::string>{"classifier.bias", "classifier.weight"}),
             boost::test_tools::per_element());
  BOOST_TEST(has(output.text(), "weights: \"classifier.bias\" is left out; \"classifier.weight\" is left out"));
  BOOST_TEST(has(refused<FileError>([&] { from_pretrained<Bert>(folder.path(), {.strict = true}); }),
                 "does not fit Bert with the sizes of config.json: unexpected tensor \"classifier.bias\""));
  const RecordedFolder distilbert("distilbert_classifier");
  BOOST_TEST(from_pretrained<DistilBert>(distilbert.path()).report.weights.unexpected_keys.size() == 4U);
  const RecordedFolder roberta("roberta_classifier");
  BOOST_TEST(from_pretrained<Roberta>(roberta.path()).report.weights.unexpected_keys.size() == 4U);
}

BOOST_AUTO_TEST_CASE(a_head_that_the_folder_lacks_is_new) {
  seed_everything(1);
  const RecordedFolder folder("bert");
  const CapturedOutput output;
  auto read = from_pretrained<BertForSequenceClassification>(folder.path(), {.num_labels = 3});
  BOOST_TEST(read.report.weights.missing_keys.size() == 2U);
  BOOST_TEST(has(output.text(), "\"classifier.weight\" is new"));
  const Tensor kernel = read.model.get_layer("classifier").get_weights().at(0);
  BOOST_TEST((kernel.shape() == Shape{8, 3}));
  BOOST_TEST(largest_difference(kernel, Tensor(kernel.shape())) > 1e-3);  // initial values, not zeros
  const Tensor words = read.model.bert().get_layer("word_embeddings").get_weights().at(0);
  BOOST_TEST(words.equal(
      SafetensorsFile(folder.path("model.safetensors.index.json")).read("embeddings.word_embeddings.weight")));
}

BOOST_AUTO_TEST_CASE(other_sizes_than_the_folders_are_errors_unless_ignored) {
  const RecordedFolder folder("bert_classifier");
  const auto read = [&](bool ignore) {
    return from_pretrained<BertForSequenceClassification>(folder.path(),
                                                          {.num_labels = 5, .ignore_mismatched_sizes = ignore});
  };
  BOOST_TEST(
      has(refused<FileError>([&] { read(false); }), "tensor \"classifier.weight\" must have shape (5, 8), got (3, 8)"));
  const CapturedOutput output;
  const auto changed = read(true);
  BOOST_TEST(changed.report.weights.mismatched_keys.size() == 2U);
  BOOST_TEST(changed.report.labels.empty());
  BOOST_TEST(from_pretrained<BertForSequenceClassification>(folder.path()).report.labels ==
                 (std::vector<std::string>{"bad", "so so", "good"}),
             boost::test_tools::per_element());
  folder.change({{"vocab_size", 14}});
  BOOST_TEST(has(refused<FileError>([&] { from_pretrained<Bert>(folder.path()); }),
                 "tensor \"bert.embeddings.word_embeddings.weight\" must have shape (14, 8), got (13, 8)"));
}

BOOST_AUTO_TEST_CASE(options_apply_or_are_errors) {
  const RecordedFolder folder("bert");
  const CapturedOutput output;
  const auto read = from_pretrained<Bert>(
      folder.path(), {.dtype = "mixed_bfloat16", .config = {{"hidden_dropout_prob", 0.25}}, .name = "encoder"});
  BOOST_TEST(read.model.options().hidden_dropout_prob == 0.25);
  BOOST_TEST(read.model.name() == "encoder");
  BOOST_TEST((read.model.compute_dtype() == DType::bfloat16));
  Bert without = from_pretrained<Bert>(folder.path(), {.add_pooling_layer = false}).model;
  BOOST_TEST(without(recorded_values(folder.path(), "x")).size() == 1U);
  const std::string where = "[from_pretrained \"" + folder.path("config.json") + "\"] ";
  BOOST_TEST(refused<ValueError>([&] { from_pretrained<Bert>(folder.path(), {.num_labels = 3}); }) ==
             where + "num_labels is for classifiers; got 3 for Bert");
  BOOST_TEST(has(refused<ValueError>([&] {
                   from_pretrained<Bert>(folder.path(), {.config = {{"use_cache", false}}});
                 }),
                 "config may have keys with an effect on Bert: "));
  const RecordedFolder gpt("gpt");
  BOOST_TEST(has(refused<ValueError>([&] { auto_model(gpt.path(), {.add_pooling_layer = true}); }),
                 "add_pooling_layer is for encoders without head; got true for GPT"));
}

BOOST_AUTO_TEST_CASE(the_class_is_that_of_the_config) {
  const RecordedFolder folder("bert_classifier");
  const CapturedOutput output;
  const auto class_of = [&](const nlohmann::json& keys) -> std::string {
    folder.change(keys);
    const auto read = auto_model(folder.path());
    if (dynamic_cast<const BertForSequenceClassification*>(&*read.model) != nullptr) return "classifier";
    return dynamic_cast<const Bert*>(&*read.model) != nullptr ? "encoder" : "other";
  };
  BOOST_TEST(class_of({{"model_type", "(none)"}}) == "classifier");
  BOOST_TEST(class_of({{"architectures", {"BertForMaskedLM"}}}) == "encoder");
  BOOST_TEST(class_of({{"architectures", "(none)"}}) == "encoder");
  const std::string where = "[from_pretrained \"" + folder.path("config.json") + "\"] ";
  BOOST_TEST(refused<FileError>([&] { from_pretrained<GPT>(folder.path()); }) ==
             where + "model_type must be gpt2 for GPT; got \"bert\", which Bert reads");
  BOOST_TEST(has(refused<ValueError>([&] { from_pretrained<LeNet>(folder.path()); }),
                 "[from_pretrained] the model must be of a class that transformers has too: Bert, "));
}

BOOST_AUTO_TEST_CASE(names_of_tensorflow_and_bodies_without_prefix_are_read) {
  const RecordedFolder folder("bert_classifier");
  NamedTensors tensors;
  for (auto& [name, tensor] : load_safetensors(folder.path("model.safetensors"))) {
    if (name.rfind("classifier", 0) == 0) continue;
    std::string old = name.substr(std::string("bert.").size());
    const std::size_t norm = old.find("LayerNorm.");
    if (norm != std::string::npos)
      old = old.substr(0, norm) + (has(old, ".weight") ? "LayerNorm.gamma" : "LayerNorm.beta");
    tensors.emplace_back(old, tensor);
  }
  save_safetensors(folder.path("model.safetensors"), tensors);
  const CapturedOutput output;
  const auto read = from_pretrained<BertForSequenceClassification>(folder.path());
  BOOST_TEST(read.report.weights.missing_keys.size() == 2U);
  BOOST_TEST(read.report.weights.unexpected_keys.empty());
}

BOOST_AUTO_TEST_CASE(files_that_are_missing_or_malformed_are_named) {
  const RecordedFolder folder("bert_classifier");
  const auto text = [](const std::string& path) { return refused<FileError>([&] { auto_model(path); }); };
  BOOST_TEST(text("bert-base-uncased") ==
             "[from_pretrained \"bert-base-uncased\"] must be a folder with a config.json (names of the Hub are not "
             "downloaded); there is none");
  BOOST_TEST(has(text(folder.path("config.json")), "; got a file"));
  std::filesystem::remove(folder.path("model.safetensors"));
  BOOST_TEST(text(folder.path()) ==
             "[from_pretrained \"" + folder.path() +
                 "\"] the folder must have one of model.safetensors, model.safetensors.index.json, pytorch_model.bin, "
                 "pytorch_model.bin.index.json; it has none");
  write_text(folder.path("config.json"), "[1, 2]");
  BOOST_TEST(text(folder.path()) == "[from_pretrained \"" + folder.path("config.json") +
                                        "\"] the config must be a JSON object; got \"[1, 2]\"");
  std::filesystem::remove(folder.path("config.json"));
  BOOST_TEST(has(text(folder.path()), "config.json"));
}

BOOST_AUTO_TEST_CASE(the_tokenizer_pads_as_its_config_says) {
  const RecordedFolder folder("bert");
  BOOST_TEST(!from_pretrained<Bert>(folder.path()).tokenizer);
  write_tokenizer(folder);
  BOOST_TEST(!from_pretrained<Bert>(folder.path(), {.tokenizer = false}).tokenizer);
  BOOST_TEST(!from_pretrained<Bert>(folder.path()).tokenizer->padding());
  write_text(folder.path("special_tokens_map.json"), R"({"pad_token": {"content": "[UNK]"}})");
  BOOST_TEST(from_pretrained<Bert>(folder.path()).tokenizer->padding()->pad_token == "[UNK]");
  write_text(folder.path("tokenizer_config.json"), R"({"pad_token": "Yesterday", "padding_side": "left"})");
  const auto read = from_pretrained<Bert>(folder.path());
  BOOST_TEST(read.tokenizer->padding()->pad_id == 2001);
  BOOST_TEST(read.tokenizer->padding()->direction == "left");
}

BOOST_AUTO_TEST_SUITE_END()
