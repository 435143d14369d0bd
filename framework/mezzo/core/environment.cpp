#include <mezzo/core/environment.hpp>

#include <algorithm>
#include <cstdlib>

#include <mezzo/core/fail.hpp>

namespace mezzo {

std::string_view detail::environment_choice(const char* variable, const std::vector<std::string_view>& valid) {
  const char* const set = std::getenv(variable);
  const std::string_view value = set == nullptr ? "" : set;
  if (!value.empty() && std::find(valid.begin(), valid.end(), value) == valid.end()) {
    fail<ValueError>(variable, "must be {}; got \"{}\"", fmt::join(valid, " or "), value);
  }
  return value;
}

}  // namespace mezzo
