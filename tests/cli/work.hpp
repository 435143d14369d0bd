#pragma once
#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <mezzo/io/safetensors.hpp>

#include "cli/command.hpp"
#include "support/folder.hpp"

namespace mezzo_tests {

/// A folder with a table and a configuration.
struct Work {
  Work() {
    std::string table = "a,b,y\n";
    for (int i = 0; i < 96; ++i) {
      const int a = i * 37 % 97, b = i * 53 % 89;
      table += std::to_string(a) + "," + std::to_string(b) + "," + std::to_string(2 * a - b) + "\n";
    }
    write("train.csv", table);
    write("config.json", R"({
      "data": {"name": "csv", "train": "train.csv", "test": "train.csv", "targets": "y", "validation_split": 0.25},
      "model": {"class_name": "Sequential", "config": {"layers": [
        {"class_name": "Input", "config": {"shape": [2]}},
        {"class_name": "Dense", "config": {"units": 4, "activation": "relu"}},
        {"class_name": "Dense", "config": {"units": 1}}]}},
      "optimizer": "adam", "loss": "mse", "metrics": ["mae"],
      "callbacks": [{"class_name": "EarlyStopping", "config": {"patience": 50}}],
      "trainer": {"max_epochs": 2, "enable_progress_bar": false, "logger": "csv"}
    })");
  }

  void write(const std::string& name, const std::string& text) const { folder.write(name, {text.begin(), text.end()}); }

  CommandRun run(const std::string& arguments) const { return run_command(arguments, "cd '" + folder.path() + "';"); }

  /// Runs the command, which must succeed.
  CommandRun succeed(const std::string& arguments) const {
    CommandRun out = run(arguments);
    BOOST_TEST(out.code == 0, arguments << ": " << out.text);
    return out;
  }

  /// Runs the command, which must fail with the code and the text.
  void refuse(const std::string& arguments, int code, const std::string& part) const {
    const CommandRun out = run(arguments);
    BOOST_TEST(out.code == code, arguments << ": " << out.text);
    BOOST_TEST(has(out.text, part), arguments << ": " << out.text);
  }

  /// Trains with further arguments, which must be refused as a wrong use with the text.
  void refuse_training(const std::string& arguments, const std::string& part) const {
    refuse("train config.json " + arguments, 2, part);
  }

  bool exists(const std::string& name) const { return std::filesystem::exists(folder.path(name)); }

  std::string text(const std::string& name) const {
    std::ifstream file(folder.path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  /// Checks that two files have equal tensors, bit for bit.
  void check_equal_tensors(const std::string& first, const std::string& second) const {
    const mezzo::NamedTensors a = mezzo::load_safetensors(folder.path(first)),
                              b = mezzo::load_safetensors(folder.path(second));
    BOOST_REQUIRE(!a.empty());
    BOOST_REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      BOOST_TEST(a[i].first == b[i].first);
      BOOST_TEST(a[i].second.to_doubles() == b[i].second.to_doubles(), a[i].first);
    }
  }

  Folder folder;
};

}  // namespace mezzo_tests
