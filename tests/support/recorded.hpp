#pragma once

#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <mezzo/core/tensor.hpp>

#include "support/paths.hpp"

namespace mezzo_tests {

// Values recorded by tests/parity/<name>.py. `bash tests/parity/record.sh <name>` records them again.
inline const nlohmann::json& recorded(const std::string& name) {
  static std::map<std::string, nlohmann::json> files;
  const auto found = files.find(name);
  if (found != files.end()) return found->second;
  std::ifstream file(tests_dir() / "parity" / "recorded" / (name + ".json"));
  if (!file) throw std::runtime_error("no recorded values of " + name);
  return files[name] = nlohmann::json::parse(file);
}

// A recorded array, in its recorded dtype.
inline mezzo::Tensor recorded_tensor(const nlohmann::json& array) {
  const mezzo::Tensor all(array.at("shape").get<mezzo::Shape>(), array.at("data").get<std::vector<double>>());
  return all.cast(mezzo::dtype_from_name(array.at("dtype").get<std::string>()));
}

}  // namespace mezzo_tests
