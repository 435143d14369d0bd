#include <mezzo/core/held.hpp>

#include <algorithm>
#include <string>

#include <mezzo/core/demangled.hpp>
#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

/// The class without its namespaces: "CSVLogger::State".
std::string class_name(const std::type_info& type) {
  std::string name = demangled(type);
  for (const char* space : {"mezzo::", "loggers::", "profilers::"}) {
    if (name.rfind(space, 0) == 0) name.erase(0, std::char_traits<char>::length(space));
  }
  return name;
}

}  // namespace

void fail_empty(const std::type_info& family) {
  const std::string name = class_name(family);
  fail<ValueError>(fmt::format("[{}]", name), "the handle must hold an object; got an empty Any<{}>", name);
}

void fail_moved(const std::type_info& type) {
  std::string name = class_name(type);
  name.erase(std::min(name.find('<'), name.size()));  // arguments of templates
  const std::string state = "::State";
  if (name.size() > state.size() && name.rfind(state) == name.size() - state.size()) {
    name.erase(name.size() - state.size());
  }
  const std::size_t scope = name.rfind("::");
  if (scope != std::string::npos) name.erase(0, scope + 2);
  fail<ValueError>(fmt::format("[{}]", name), "the object must not be used after it was moved from");
}

}  // namespace mezzo::detail
