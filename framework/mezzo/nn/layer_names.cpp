#include <mezzo/nn/layer_names.hpp>

#include <nlohmann/json.hpp>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {

void check_text_name(const std::string& where, const std::string& name) {
  try {
    static_cast<void>(nlohmann::json(name).dump());
  } catch (const nlohmann::json::exception& error) {
    fail<NameError>(where, "name must be UTF-8; got other bytes ({})", error.what());
  }
}

const std::string& checked_layer_name(const std::string& where, const std::string& name) {
  check_text_name(where, name);
  if (name == "." || name == ".." || name.find_first_of("/\\") != std::string::npos) {
    fail<NameError>(where, "name must be no path (without \"/\" and \"\\\", not \".\" or \"..\"); got \"{}\"", name);
  }
  return name;
}

const std::string& name_of_layer(const char* kind, const std::string& name) {
  return name.empty() ? name : checked_layer_name(fmt::format("[{}]", kind), name);
}

}  // namespace mezzo::detail
