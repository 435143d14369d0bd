#include <mezzo/precision/policy_map.hpp>

#include <algorithm>
#include <regex>

#include <mezzo/core/error.hpp>

namespace mezzo {
namespace {

bool matches(const std::string& text, const std::string& path) {
  return text == path || std::regex_match(path, std::regex(text));
}

void check(const PolicyMapOptions& options) {
  if (options.default_policy.map() != nullptr) throw ValueError("[PolicyMap] default_policy must not be a map");
  std::vector<std::string> texts;
  for (const auto& entry : options.policies) {
    const std::string where = "[PolicyMap] entry \"" + entry.first + "\"";
    if (std::find(texts.begin(), texts.end(), entry.first) != texts.end()) throw ValueError(where + " comes twice");
    if (entry.second.inherits() || entry.second.map() != nullptr) {
      throw ValueError(where + " must have a policy that is neither empty nor a map");
    }
    try {
      const std::regex checked(entry.first);
    } catch (const std::regex_error& error) {
      throw ValueError(where + " is no regular expression: " + error.what());
    }
    texts.push_back(entry.first);
  }
}

/// `path` from below the layer with the path `from`.
std::string relative(const std::string& path, const std::string& from) {
  return from.empty() || path.size() <= from.size() ? (from.empty() ? path : "") : path.substr(from.size() + 1);
}

}  // namespace

PolicyMap::PolicyMap(PolicyMapOptions options) : options_(std::move(options)) { check(options_); }

Policy PolicyMap::at(const std::string& path) const {
  for (const auto& entry : options_.policies) {
    if (entry.first == path) return entry.second;
  }
  const std::pair<std::string, Policy>* found = nullptr;
  for (const auto& entry : options_.policies) {
    if (!matches(entry.first, path)) continue;
    if (found != nullptr) {
      throw ValueError("[PolicyMap] layer \"" + path + "\" is matched by \"" + found->first + "\" and \"" +
                       entry.first + "\"; give its exact path");
    }
    found = &entry;
  }
  return found == nullptr ? options_.default_policy : found->second;
}

std::vector<std::string> PolicyMap::unmatched(const std::vector<std::string>& paths) const {
  std::vector<std::string> out;
  for (const auto& entry : options_.policies) {
    const auto matched = [&](const std::string& path) { return matches(entry.first, path); };
    if (std::none_of(paths.begin(), paths.end(), matched)) out.push_back(entry.first);
  }
  return out;
}

std::string PolicyMap::name() const {
  std::string text = "PolicyMap(";
  for (const auto& entry : options_.policies) text += "\"" + entry.first + "\": " + entry.second.name() + ", ";
  const std::string& rest = options_.default_policy.name();
  return text + "default: " + (rest.empty() ? "inherited" : rest) + ")";
}

Policy policy_at(const std::vector<PolicyLevel>& levels, const std::string& path) {
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    const Policy policy = level->policy.at(relative(path, level->path));
    if (!policy.inherits()) return policy;
  }
  return Policy("float32");
}

}  // namespace mezzo
