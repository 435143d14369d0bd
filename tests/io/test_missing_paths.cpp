// Every function that reads a file or folder names a path where nothing is.
#include <boost/test/unit_test.hpp>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/io/check_path.hpp>
#include <mezzo/io/safetensors.hpp>
#include <mezzo/io/torch_file.hpp>
#include <mezzo/mezzo.hpp>
#include <mezzo/models/pretrained/adapter_files.hpp>
#include <mezzo/models/pretrained/from_pretrained.hpp>

#include "support/folder.hpp"
#include "support/refused.hpp"

using namespace mezzo;

namespace {

using Readers = std::vector<std::pair<const char*, std::function<void(const std::string& path)>>>;

Sequential built() {
  Sequential model({Input({2}), Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  return model;
}

const Readers& files() {
  static const Readers all{
      {"load_npy", [](const std::string& path) { load_npy(path); }},
      {"load_npz", [](const std::string& path) { load_npz(path); }},
      {"load_npz of one array", [](const std::string& path) { load_npz(path, "x"); }},
      {"npy_dataset",
       [](const std::string& path) {
         npy_dataset({{"x", path}});
       }},
      {"load_safetensors", [](const std::string& path) { load_safetensors(path); }},
      {"SafetensorsFile", [](const std::string& path) { SafetensorsFile file(path); }},
      {"TorchFile", [](const std::string& path) { TorchFile file(path); }},
      {"read_csv", [](const std::string& path) { read_csv(path); }},
      {"CsvReader", [](const std::string& path) { CsvReader reader(path, 2); }},
      {"csv_dataset", [](const std::string& path) { csv_dataset(path, {.targets = {"y"}}); }},
      {"read_image", [](const std::string& path) { image::read_image(path); }},
      {"Tokenizer::from_file", [](const std::string& path) { Tokenizer::from_file(path); }},
      {"Tokenizer::from_sentencepiece", [](const std::string& path) { Tokenizer::from_sentencepiece(path); }},
      {"WordPieceTokenizer", [](const std::string& path) { WordPieceTokenizer tokenizer(path); }},
      {"load_model", [](const std::string& path) { load_model(path); }},
      {"load_weights", [](const std::string& path) { built().load_weights(path); }},
      {"FeatureSpace::load", [](const std::string& path) { FeatureSpace::load(path); }},
      {"saved_hyperparameters", [](const std::string& path) { detail::saved_hyperparameters(path); }},
      {"fit from a checkpoint",
       [](const std::string& path) {
         Sequential model = built();
         const DataLoader data(Dataset::from_tensors({{"x", Tensor({4, 2})}, {"y", Tensor({4, 1}), Role::target}}));
         Trainer({.max_epochs = 1, .enable_progress_bar = false}).fit(model, data, {}, {.ckpt_path = path});
       }},
  };
  return all;
}

const Readers& folders() {
  static const Readers all{
      {"image_dataset_from_directory", [](const std::string& path) { image_dataset_from_directory(path); }},
      {"text_dataset_from_directory", [](const std::string& path) { text_dataset_from_directory(path); }},
      {"from_pretrained", [](const std::string& path) { auto_model(path); }},
      {"load_adapter", [](const std::string& path) { load_adapter(GPT({.n_layer = 1}), path); }},
      {"mnist", [](const std::string& path) { datasets::mnist({.root = path}); }},
      {"cifar10", [](const std::string& path) { datasets::cifar10({.root = path}); }},
      {"oxford_iiit_pet", [](const std::string& path) { datasets::oxford_iiit_pet({.root = path}); }},
      {"bible_kjv", [](const std::string& path) { datasets::bible_kjv({.root = path}); }},
  };
  return all;
}

void check(const Readers& readers, const std::string& path, const std::string& reason) {
  for (const auto& [name, read] : readers) {
    const std::string text = mezzo_tests::refused<FileError>([&, &one = read] { one(path); });
    BOOST_TEST(text.find(reason) != std::string::npos, name << ": " << text);
    BOOST_TEST(text.find("\"" + path) != std::string::npos, name << ": " << text);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(missing_paths)

BOOST_AUTO_TEST_CASE(a_missing_file_is_named) {
  const mezzo_tests::Folder folder;
  for (const char* name : {"none", "none/inside"}) check(files(), folder.path(name), "no such file or directory");
}

BOOST_AUTO_TEST_CASE(a_missing_folder_is_named) {
  const mezzo_tests::Folder folder;
  check(folders(), folder.path("none"), "no such file or directory");
}

// "data" is a part of the function's name, too.
BOOST_AUTO_TEST_CASE(a_path_is_named_once) {
  BOOST_TEST(mezzo_tests::refused<FileError>([] { detail::fail_missing("data", "[image_dataset_from_directory]"); }) ==
             "[image_dataset_from_directory] \"data\": no such file or directory");
  BOOST_TEST(mezzo_tests::refused<FileError>([] { detail::fail_missing("data", "[load_model \"data\"]"); }) ==
             "[load_model \"data\"] no such file or directory");
}

BOOST_AUTO_TEST_CASE(a_file_is_no_folder_and_a_folder_no_file) {
  const mezzo_tests::Folder folder;
  folder.write("file", {'x'});
  check(folders(), folder.path("file"), "got a file");
  check(files(), folder.path(), "must be a regular file; got another kind of file");
}

BOOST_AUTO_TEST_CASE(an_empty_path_is_named) {
  for (const auto& [name, read] : files()) {
    if (std::string(name) == "fit from a checkpoint") continue;  // an empty path means no checkpoint
    const std::string text = mezzo_tests::refused<FileError>([&, &one = read] { one(""); });
    BOOST_TEST(text.find("the path must not be empty") != std::string::npos, name << ": " << text);
  }
  BOOST_TEST(mezzo_tests::refused<FileError>([] { auto_model(""); }) ==
             "[from_pretrained \"\"] the path must not be empty");
  BOOST_TEST(mezzo_tests::refused<FileError>([] { load_adapter(GPT({.n_layer = 1}), ""); }) ==
             "[load_adapter \"\"] the path must not be empty");
  Sequential model = built();
  BOOST_TEST(mezzo_tests::refused<FileError>([&] { model.save(""); }) ==
             "[Sequential] save: the path must not be empty");
  BOOST_TEST(mezzo_tests::refused<FileError>([&] { model.save_weights(""); }) ==
             "[Sequential] save_weights: the path must not be empty");
}

BOOST_AUTO_TEST_SUITE_END()
