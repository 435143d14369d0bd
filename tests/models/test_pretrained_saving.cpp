#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <set>

#include <mezzo/mezzo.hpp>

#include "pretrained.hpp"
#include "support/recorded.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using nlohmann::json;

namespace {

namespace fs = std::filesystem;

std::set<std::string> files_of(const std::string& folder) {
  std::set<std::string> out;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) out.insert(entry.path().filename());
  return out;
}

DistilBertForSequenceClassification tiny_classifier() {
  DistilBertForSequenceClassification model(
      {.distilbert =
           {.vocab_size = 13, .max_position_embeddings = 10, .n_layers = 1, .n_heads = 2, .dim = 8, .hidden_dim = 12},
       .num_labels = 3});
  model.build({1, 1});
  return model;
}

/// Error text of saving into a folder.
std::string refused_folder(const std::string& path, const SavePretrainedOptions& options = {}) {
  return refused<Error>([&] { save_pretrained(tiny_classifier(), path, options); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pretrained_saving)

BOOST_AUTO_TEST_CASE(a_new_folder_has_the_keys_and_names_of_transformers) {
  const Folder folder;
  const std::string path = folder.path("a/b");
  DistilBertForSequenceClassification model = tiny_classifier();
  save_pretrained(model, path, {.labels = {"x", "y", "z"}});
  BOOST_TEST((files_of(path) == std::set<std::string>{"config.json", "model.safetensors"}));
  BOOST_TEST((files_of(folder.path("a")) == std::set<std::string>{"b"}));
  const json config = read_config(path);
  BOOST_TEST(config.at("architectures") == json({"DistilBertForSequenceClassification"}));
  BOOST_TEST(config.at("model_type") == "distilbert");
  BOOST_TEST(config.at("dtype") == "float32");
  BOOST_TEST(config.at("n_heads") == 2);
  BOOST_TEST(config.at("id2label") == json({{"0", "x"}, {"1", "y"}, {"2", "z"}}));
  const SafetensorsFile weights(path + "/model.safetensors");
  BOOST_TEST(weights.metadata().at("format") == "pt");
  BOOST_TEST((weights.find("distilbert.transformer.layer.0.attention.q_lin.weight") != nullptr));
  auto again = from_pretrained<DistilBertForSequenceClassification>(path, {.strict = true});
  const Tensor ids({2, 5}, DType::int64);
  BOOST_TEST(again.model.predict(ids).equal(model.predict(ids)));
}

BOOST_AUTO_TEST_CASE(other_keys_of_the_config_that_was_read_are_kept) {
  const RecordedFolder folder("llama");
  folder.change({{"eos_token_id", 7}, {"pretraining_tp", 1}, {"num_labels", 2}});
  auto read = from_pretrained<Llama>(folder.path());
  save_pretrained(read, folder.path("saved"));
  const json config = read_config(folder.path("saved"));
  BOOST_TEST(config.at("eos_token_id") == 7);
  BOOST_TEST(config.at("rope_theta") == 500);
  BOOST_TEST(!config.contains("rope_parameters"));
  BOOST_TEST(config.at("rope_scaling").at("rope_type") == "llama3");
}

BOOST_AUTO_TEST_CASE(files_of_an_existing_folder_stay_and_old_weights_go) {
  const RecordedFolder folder("bert");
  std::ofstream(folder.path("notes.txt")) << "mine";
  save_pretrained(tiny_classifier(), folder.path());
  BOOST_TEST((files_of(folder.path()) ==
              std::set<std::string>{"config.json", "expected.safetensors", "model.safetensors", "notes.txt"}));
  from_pretrained<DistilBertForSequenceClassification>(folder.path(), {.strict = true});
}

BOOST_AUTO_TEST_CASE(a_folder_in_place_of_a_file_is_named_and_nothing_changes) {
  for (const std::string name : {"model.safetensors", "config.json"}) {
    const RecordedFolder folder("bert_classifier");
    const std::set<std::string> before = files_of(folder.path());
    fs::remove(folder.path(name));
    fs::create_directory(folder.path(name));
    BOOST_TEST(refused_folder(folder.path()) == "[save_pretrained \"" + folder.path() + "\"] \"" + folder.path(name) +
                                                    "\" must be a file, which is replaced; got a folder");
    BOOST_TEST((files_of(folder.path()) == before));
  }
  const Folder folder;
  std::ofstream(folder.path("file")) << "mine";
  BOOST_TEST(refused_folder(folder.path("file/a")) == "[save_pretrained \"" + folder.path("file/a") +
                                                          "\"] must be the path of a folder; \"" + folder.path("file") +
                                                          "\" is a file");
}

// Files of mezzo have numbers that shapes don't show.
BOOST_AUTO_TEST_CASE(a_config_that_contradicts_the_weights_is_an_error) {
  const Folder folder;
  const std::string path = folder.path("a");
  save_pretrained(tiny_classifier(), path);
  json config = read_config(path);
  config["n_heads"] = 4;
  write_config(path, config);
  const std::string text = refused<FileError>([&] { auto_model(path); });
  BOOST_TEST(text.find("num_heads must be 4; the file has 2") != std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(bad_calls_leave_no_folder) {
  const Folder folder;
  const std::string path = folder.path("a"), where = "[save_pretrained \"" + path + "\"] ";
  BOOST_TEST(refused_folder(path, {.labels = {"x"}}) == where + "labels must have 3 names; got 1");
  BOOST_TEST(refused_folder(path, {.labels = {"x", "y", "x"}}) == where + "labels must differ; got \"x\" twice");
  BOOST_TEST(refused_folder(path, {.config = "{"}).rfind(where + "config: the config must be a JSON object", 0) == 0U);
  BOOST_TEST(refused<ValueError>([&] {
               save_pretrained(LeNet(), path);
             }).rfind(where + "the model must be of a class that transformers has too: Bert, ", 0) == 0U);
  BOOST_TEST(refused<ValueError>([&] { save_pretrained(GPT(), path); }) ==
             where + "save_pretrained needs a layer that was built, by build() or a call; got one without weights");
  BOOST_TEST(refused<ValueError>([&] {
               const RecordedFolder bert("bert");
               save_pretrained(from_pretrained<Bert>(bert.path()).model, path, {.labels = {"x"}});
             }) == where + "labels are for classifiers; got 1 for Bert");
  BOOST_TEST(files_of(folder.path()).empty());
  std::ofstream(path) << "a file";
  BOOST_TEST(refused_folder(path) == where + "must be a folder; got a file");
}

BOOST_AUTO_TEST_CASE(weights_of_float64_stay_so) {
  const RecordedFolder folder("gpt");
  const auto read = from_pretrained<GPT>(folder.path(), {.dtype = DType::float64});
  save_pretrained(read, folder.path("saved"));
  BOOST_TEST(read_config(folder.path("saved")).at("dtype") == "float64");
}

BOOST_AUTO_TEST_CASE(the_tokenizer_is_saved_with_its_padding) {
  const RecordedFolder folder("bert");
  std::ofstream(folder.path("tokenizer.json")) << recorded("tokenizers/words").at("tokenizer").dump();
  auto read = from_pretrained<Bert>(folder.path());
  read.tokenizer->enable_padding({.direction = "left", .pad_id = 2001, .pad_token = "Yesterday"});
  read.tokenizer->enable_truncation({.max_length = 9});
  save_pretrained(read, folder.path("saved"));
  const json config = json::parse(std::ifstream(folder.path("saved/tokenizer_config.json")));
  BOOST_TEST(config.at("pad_token") == "Yesterday");
  BOOST_TEST(config.at("model_max_length") == 9);
  const auto again = from_pretrained<Bert>(folder.path("saved"));
  BOOST_TEST(again.tokenizer->padding()->direction == "left");
  BOOST_TEST(again.tokenizer->truncation()->max_length == 9);
  const std::vector<std::string> texts{"In the beginning", "And God said"};
  BOOST_TEST(again.tokenizer->encode_batch(texts).input_ids.equal(read.tokenizer->encode_batch(texts).input_ids));
}

BOOST_AUTO_TEST_CASE(codes_and_adapters_are_refused) {
  const Folder folder;
  const std::string path = folder.path("a"), where = "[save_pretrained \"" + path + "\"] ";
  DistilBertForSequenceClassification quantized = tiny_classifier();
  quantized.quantize("int8");
  const std::string text = refused<ValueError>([&] { save_pretrained(quantized, path); });
  BOOST_TEST(text.find(where + "weights must be floats without scales; got those of \"") == 0U, text);
  BOOST_TEST(text.find("which is quantized: save as .mezzo, or save the folder before the model is quantized") !=
                 std::string::npos,
             text);
  DistilBertForSequenceClassification adapted = tiny_classifier();
  adapted.enable_lora({.rank = 2});
  for (const bool merged : {false, true}) {
    if (merged) merge_adapter(adapted);
    const std::string of_adapters = refused<ValueError>([&] { save_pretrained(adapted, path); });
    BOOST_TEST(of_adapters.find("the model must have no adapters; got those of \"") != std::string::npos, of_adapters);
    BOOST_TEST(of_adapters.find("call merge_and_unload() first, or save as .mezzo") != std::string::npos);
  }
  BOOST_TEST(!fs::exists(path));
  merge_and_unload(adapted);
  save_pretrained(adapted, path);
  const Tensor ids({2, 5}, DType::int64);
  BOOST_TEST(from_pretrained<DistilBertForSequenceClassification>(path).model.predict(ids).equal(adapted.predict(ids)));
}

BOOST_AUTO_TEST_SUITE_END()
