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
             "[from_pretrained \"bert-base-uncased\"] no such file or directory; it must be a folder with "
             "a config.json (names of the Hub are not downloaded)");
  BOOST_TEST(has(text(folder.path("config.json")), "; got a file"));
  std::filesystem::remove(folder.path("model.safetensors"));
  BOOST_TEST(text(folder.path()) ==
             "[from_pretrained \"" + folder.path() +
                 "\"] the folder must have one of model.safetensors, model.safetensors.index.json, pytorch_model.bin, "
                 "pytorch_model.bin.index.json; it has none");
  write_text(folder.path("config.json"), "[1, 2]");
  BOOST_TEST(text(folder.path()) == "[from_pretrained \"" + folder.path("config.json") +
                                        "\"] the config must be a JSON object; got \"[1, 2]\"");
  write_text(folder.path("config.json"), "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n");
  BOOST_TEST(text(folder.path()) == "[from_pretrained \"" + folder.path("config.json") +
                                        "\"] must be a JSON text; it is a pointer of Git LFS: get the file itself with "
                                        "`git lfs pull`");
  std::filesystem::remove(folder.path("config.json"));
  BOOST_TEST(text(folder.path()) == "[from_pretrained \"" + folder.path() +
                                        "\"] must be a folder with a config.json (names of the Hub are not "
                                        "downloaded); got a folder without it");
  std::filesystem::create_directory(folder.path("config.json"));
  BOOST_TEST(text(folder.path()) == "[from_pretrained \"" + folder.path("config.json") +
                                        "\"] must be a regular file; got another kind of file");
}

BOOST_AUTO_TEST_CASE(weights_that_are_pointers_of_git_lfs_are_named) {
  const RecordedFolder folder("bert_classifier");
  write_text(folder.path("model.safetensors"), "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n");
  BOOST_TEST(refused<FileError>([&] { auto_model(folder.path()); }) ==
             "[load_weights \"" + folder.path("model.safetensors") +
                 "\"] must be a safetensors file (.safetensors, .mezzo or a checkpoint), a "
                 "model.safetensors.index.json, a PyTorch file (.pt, .bin), or a file of Keras (.weights.h5, .keras, "
                 ".h5); it is a pointer of Git LFS: get the file itself with `git lfs pull`");
}

// A missing key has transformers' default, as there: the sizes of the weights are other ones.
BOOST_AUTO_TEST_CASE(sizes_that_the_config_lacks_are_named) {
  const RecordedFolder folder("bert_classifier");
  const auto text = [&](const nlohmann::json& keys) {
    folder.change(keys);
    return refused<FileError>([&] { auto_model(folder.path()); });
  };
  const std::string lacks = "; config.json lacks sizes, for which transformers' defaults stand: ";
  const std::string large =
      text({{"hidden_size", "(none)"}, {"vocab_size", "(none)"}, {"num_attention_heads", "(none)"}});
  BOOST_TEST(large.rfind("[from_pretrained \"" + folder.path("config.json") + "\"] [Embedding ", 0) == 0U, large);
  BOOST_TEST(large.ends_with(lacks + "hidden_size = 768, num_attention_heads = 12, vocab_size = 30522"), large);
  BOOST_TEST(text({{"hidden_size", "(none)"}}).ends_with(lacks + "hidden_size = 768"));
  BOOST_TEST(text({{"max_position_embeddings", "(none)"}}).ends_with(lacks + "max_position_embeddings = 512"));
  BOOST_TEST(!has(text({{"vocab_size", 14}}), "lacks"));
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

BOOST_AUTO_TEST_CASE(wrong_paddings_of_tokenizers_are_noticed) {
  const RecordedFolder folder("bert");
  write_tokenizer(folder);
  const std::string path = folder.path("tokenizer_config.json"), where = "[from_pretrained \"" + path + "\"] ";
  const auto text = [&](const std::string& config) {
    write_text(path, config);
    return refused<FileError>([&] { from_pretrained<Bert>(folder.path()); });
  };
  BOOST_TEST(text(R"({"padding_side": "middle"})") == where + "padding_side must be left or right; got \"middle\"");
  BOOST_TEST(text(R"({"padding_side": 1})") == where + "padding_side must be left or right; got 1");
  BOOST_TEST(text(R"({"pad_token": 3})") ==
             where + "pad_token must be a token, or an object with one as \"content\"; got 3");
  BOOST_TEST(text(R"({"pad_token": {"text": "x"}})").rfind(where + "pad_token must be a token", 0) == 0U);
  BOOST_TEST(text(R"({"pad_token": null, "padding_side": null})") == "");
  const CapturedOutput output;
  BOOST_TEST(text(R"({"pad_token": "<none>"})") == "");
  BOOST_TEST(
      has(output.text(), where + "pad_token \"<none>\" is not in the vocabulary, so texts are not padded with it\n"));
  write_text(path, R"({"pad_token": "<none>"})");
  BOOST_TEST(!from_pretrained<Bert>(folder.path()).tokenizer->padding());
}

// As in transformers, the config replaces the padding of tokenizer.json.
BOOST_AUTO_TEST_CASE(the_config_replaces_the_padding_of_the_tokenizer) {
  const RecordedFolder folder("bert");
  nlohmann::json tokenizer = recorded("tokenizers/words").at("tokenizer");
  tokenizer["padding"] = {{"strategy", "BatchLongest"}, {"direction", "Right"},
                          {"pad_to_multiple_of", 8},    {"pad_id", 2001},
                          {"pad_type_id", 0},           {"pad_token", "Yesterday"}};
  write_text(folder.path("tokenizer.json"), tokenizer.dump());
  write_text(folder.path("tokenizer_config.json"), R"({"padding_side": "left"})");
  const auto sides = from_pretrained<Bert>(folder.path()).tokenizer->padding();
  BOOST_TEST((sides->direction == "left" && sides->pad_id == 2001 && sides->pad_to_multiple_of == 8));
  write_text(folder.path("tokenizer_config.json"), R"({"pad_token": "[UNK]"})");
  const auto tokens = from_pretrained<Bert>(folder.path()).tokenizer->padding();
  BOOST_TEST((tokens->direction == "right" && tokens->pad_token == "[UNK]" && tokens->pad_id != 2001));
}

BOOST_AUTO_TEST_CASE(the_vocabulary_of_bert_is_read_as_by_transformers) {
  const RecordedFolder folder("bert");
  const std::string path = folder.path("vocab.txt"), where = "[from_pretrained \"" + path + "\"] ";
  write_text(path, "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ncafe\n##s\nCaf\xC3\xA9\n\xE4\xB8\xAD\n");
  const auto ids = [&](const std::string& text) {
    return from_pretrained<Bert>(folder.path()).tokenizer->encode(text);
  };
  const auto is = [](const TokenizedText& got, const std::vector<std::int64_t>& expected) {
    BOOST_TEST(got.ids == expected, boost::test_tools::per_element());
  };
  is(ids("Caf\xC3\xA9s [MASK]\xE4\xB8\xAD x"), {2, 5, 6, 4, 8, 1, 3});
  auto read = from_pretrained<Bert>(folder.path());
  BOOST_TEST((read.tokenizer->padding()->pad_token == "[PAD]" && read.tokenizer->padding()->pad_id == 0));
  const Encoding pair = read.tokenizer->encode_batch({"cafe"}, {.text_pairs = {"cafes"}});
  BOOST_TEST(pair.input_ids.to_doubles() == (std::vector<double>{2, 5, 3, 5, 6, 3}), boost::test_tools::per_element());
  BOOST_TEST(pair.token_type_ids.to_doubles() == (std::vector<double>{0, 0, 0, 1, 1, 1}),
             boost::test_tools::per_element());
  BOOST_TEST(read.tokenizer->decode({2, 5, 6, 3}) == "cafes");
  save_pretrained(read, folder.path("saved"));
  BOOST_TEST(from_pretrained<Bert>(folder.path("saved")).tokenizer->encode("cafes").ids ==
                 (std::vector<std::int64_t>{2, 5, 6, 3}),
             boost::test_tools::per_element());
  write_text(folder.path("tokenizer_config.json"), R"({"do_lower_case": false, "cls_token": "[PAD]"})");
  is(ids("Caf\xC3\xA9"), {0, 7, 3});
  const auto text = [&](const std::string& config) {
    write_text(folder.path("tokenizer_config.json"), config);
    return refused<FileError>([&] { from_pretrained<Bert>(folder.path()); });
  };
  BOOST_TEST(text(R"({"sep_token": "</s>"})") == where + "must have the sep_token \"</s>\"; got 9 tokens without it");
  BOOST_TEST(has(text(R"({"do_lower_case": "no"})"), "do_lower_case must be true or false; got \"no\""));
  write_text(path, "[UNK]\n\xff\n");
  BOOST_TEST(text("{}") == where + "every line must be UTF-8; got other bytes in line 2");
}

BOOST_AUTO_TEST_CASE(tokenizers_that_are_not_read_are_named) {
  const RecordedFolder folder("llama");
  const auto told = [&](const std::string& name) {
    write_text(folder.path(name), "x");
    const CapturedOutput output;
    BOOST_TEST(!auto_model(folder.path()).tokenizer);
    std::filesystem::remove(folder.path(name));
    return output.text();
  };
  const std::string where = "[from_pretrained \"" + folder.path() + "\"] no tokenizer is read: the folder has ";
  BOOST_TEST(has(told("tokenizer.model"),
                 where + "tokenizer.model, but no tokenizer.json; AutoTokenizer.from_pretrained(folder)"
                         ".save_pretrained(folder) of transformers writes it, and Tokenizer::from_sentencepiece() "
                         "reads the model alone\n"));
  BOOST_TEST(has(told("vocab.json"), where + "vocab.json, but no tokenizer.json; "));
  BOOST_TEST(has(told("vocab.txt"), where + "vocab.txt, but no tokenizer.json; "));
  BOOST_TEST(!has(told("notes.txt"), "tokenizer"));
  const RecordedFolder bert("bert");
  write_text(bert.path("vocab.txt"), "[UNK]\n");
  write_text(bert.path("tokenizer_config.json"), R"({"tokenizer_class": "BertJapaneseTokenizer"})");
  const CapturedOutput output;
  BOOST_TEST(!from_pretrained<Bert>(bert.path()).tokenizer);
  BOOST_TEST(has(output.text(), "the folder has vocab.txt, but no tokenizer.json"));
}

BOOST_AUTO_TEST_SUITE_END()
