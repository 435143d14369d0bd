#include <mezzo/cli/nearest.hpp>

#include <mezzo/cli/usage_error.hpp>
#include <mezzo/core/edit_distance.hpp>
#include <mezzo/core/fail.hpp>

namespace mezzo::cli {

void fail_unknown_name(const std::string& where, const char* kind, const std::string& name,
                       const std::vector<std::string>& names) {
  fail_usage("{}: {}", where, detail::unknown_text(kind, name, names));
}

std::string nearest_option(const std::string& name, const std::vector<std::string>& names) {
  const std::string nearest = detail::nearest_name(name, names);
  return nearest.empty() ? "" : "; nearest: --" + nearest;
}

}  // namespace mezzo::cli
