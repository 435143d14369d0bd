#pragma once

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include <mezzo/io/safetensors.hpp>
#include <mezzo/models/pretrained/from_pretrained.hpp>

#include "support/folder.hpp"
#include "support/paths.hpp"
#include "support/tensors.hpp"

// Folders of Hugging Face's transformers that tests/parity/transformers_folders.py recorded.
namespace mezzo_tests {

// Copies the recorded folders to a new one.
inline void copy_recorded_folders(const std::string& to) {
  std::filesystem::copy(tests_dir() / "parity" / "recorded" / "folders", to, std::filesystem::copy_options::recursive);
}

inline nlohmann::json read_config(const std::string& folder) {
  return nlohmann::json::parse(std::ifstream(folder + "/config.json"));
}

inline void write_config(const std::string& folder, const nlohmann::json& config) {
  std::ofstream(folder + "/config.json") << config.dump();
}

// A copy of a recorded folder.
class RecordedFolder {
 public:
  explicit RecordedFolder(const std::string& name) : name_(name), original_(from(name)) {
    std::filesystem::copy(original_, path(), std::filesystem::copy_options::recursive);
  }

  std::string path() const { return folder_.path(name_); }
  std::string path(const std::string& file) const { return path() + "/" + file; }

  // Writes the recorded config with other values; "(none)" removes a key.
  void change(const nlohmann::json& keys) const {
    nlohmann::json config = read_config(original_);
    for (const auto& [key, value] : keys.items()) {
      config[key] = value;
      if (value == "(none)") config.erase(key);
    }
    write_config(path(), config);
  }

 private:
  static std::string from(const std::string& name) {
    return (tests_dir() / "parity" / "recorded" / "folders" / name).string();
  }

  Folder folder_;
  std::string name_, original_;
};

// Recorded arrays <prefix>0, <prefix>1, ... of a folder.
inline mezzo::Values recorded_values(const std::string& folder, const std::string& prefix) {
  const mezzo::SafetensorsFile file(folder + "/expected.safetensors");
  mezzo::Values out;
  while (true) {
    const std::string name = prefix + std::to_string(out.size());
    if (file.find(name) == nullptr) return out;
    out.emplace_back(file.read(name));
  }
}

// Largest difference of the model's outputs to the recorded ones.
inline double outputs_off(mezzo::Model& model, const std::string& folder, const std::string& prefix = "y") {
  const mezzo::Values expected = recorded_values(folder, prefix), got = model(recorded_values(folder, "x"));
  BOOST_TEST_REQUIRE(got.size() == expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    worst = std::max(worst, largest_difference(got[i].tensor(), expected[i].tensor()));
  }
  return worst;
}

}  // namespace mezzo_tests
