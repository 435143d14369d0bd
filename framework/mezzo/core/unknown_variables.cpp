#include <mezzo/core/unknown_variables.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <iterator>

#include <mezzo/core/edit_distance.hpp>
#include <mezzo/core/environment_variables.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>

namespace mezzo::detail {
namespace {

namespace names = environment_variables;

std::atomic<bool>& told() {
  static std::atomic<bool> flag{false};
  return flag;
}

bool is_known(const std::string& variable) {
  const auto is = [&](const char* name) { return variable == name; };
  return std::any_of(std::begin(names::all), std::end(names::all), is) ||
         std::any_of(std::begin(names::of_tools), std::end(names::of_tools), is) ||
         variable.rfind(names::trainer_prefix, 0) == 0 || variable.rfind(names::test_prefix, 0) == 0;
}

std::vector<std::pair<std::string, std::string>> unknown_variables() {
  const std::vector<std::string> known(std::begin(names::all), std::end(names::all));
  std::vector<std::pair<std::string, std::string>> out;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string variable = text.substr(0, text.find('='));
    if (variable.rfind("MEZZO_", 0) == 0 && !is_known(variable))
      out.emplace_back(variable, nearest_name(variable, known));
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> take_unknown_variables() {
  told() = true;
  return unknown_variables();
}

void warn_of_unknown_variables() {
  if (told().load(std::memory_order_relaxed) || told().exchange(true)) return;
  for (const auto& [variable, nearest] : unknown_variables()) {
    warn(fmt::format("unknown environment variable \"{}\" has no effect{}", variable,
                     nearest.empty() ? "" : "; nearest: \"" + nearest + "\""));
  }
}

}  // namespace mezzo::detail
