#include <mezzo/precision/policy_map.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/held.hpp>
#include <mezzo/core/pattern.hpp>

namespace mezzo {
namespace {

/// `path` relative to the layer with the path `from`.
std::string relative(const std::string& path, const std::string& from) {
  if (from.empty()) return path;
  return path.size() <= from.size() ? "" : path.substr(from.size() + 1);
}

}  // namespace

/// A path or regular expression and its policy.
struct PolicyMap::Entry {
  std::string text;
  Policy policy;
  detail::Pattern pattern;

  bool matches(const std::string& path) const { return text == path || pattern.matches(path); }
};

PolicyMap::PolicyMap(const PolicyMapOptions& options) : default_policy_(options.default_policy) {
  if (default_policy_.map() != nullptr)
    fail<ValueError>("[PolicyMap]", "default_policy must not be a map; got {}", default_policy_.name());
  std::vector<Entry> entries;
  for (const auto& [text, policy] : options.policies) {
    const std::string where = fmt::format("[PolicyMap] entry \"{}\"", text);
    for (const Entry& entry : entries) {
      if (entry.text == text) fail<ValueError>(where, "must be given once; got it twice");
    }
    if (policy.inherits() || policy.map() != nullptr) {
      fail<ValueError>(where, "must have a policy that is neither empty nor a map; got {}",
                       policy.inherits() ? "an empty one" : "a map");
    }
    try {
      entries.push_back({text, policy, detail::Pattern(text)});
    } catch (const std::runtime_error& error) {
      fail<ValueError>(where, "must be a path or a regular expression; got an invalid one: {}", error.what());
    }
  }
  entries_ = std::make_shared<const std::vector<Entry>>(std::move(entries));
}

const std::vector<PolicyMap::Entry>& PolicyMap::entries() const {
  if (!entries_) detail::fail_moved(typeid(PolicyMap));
  return *entries_;
}

Policy PolicyMap::at(const std::string& path) const {
  for (const Entry& entry : entries()) {
    if (entry.text == path) return entry.policy;
  }
  const Entry* found = nullptr;
  for (const Entry& entry : entries()) {
    if (!entry.matches(path)) continue;
    if (found != nullptr) {
      fail<ValueError>("[PolicyMap]",
                       "layer \"{}\" must match one entry or have an entry with its exact path; got \"{}\" and \"{}\"",
                       path, found->text, entry.text);
    }
    found = &entry;
  }
  return found == nullptr ? default_policy_ : found->policy;
}

std::vector<std::string> PolicyMap::unmatched(const std::vector<std::string>& paths) const {
  std::vector<std::string> out;
  for (const Entry& entry : entries()) {
    const auto matched = [&](const std::string& path) { return entry.matches(path); };
    if (std::none_of(paths.begin(), paths.end(), matched)) out.push_back(entry.text);
  }
  return out;
}

std::string PolicyMap::name() const {
  std::string text = "PolicyMap(";
  for (const Entry& entry : entries()) text += fmt::format("\"{}\": {}, ", entry.text, entry.policy.name());
  const std::string& rest = default_policy_.name();
  return fmt::format("{}default: {})", text, rest.empty() ? "inherited" : rest);
}

Policy detail::policy_at(const std::vector<detail::PolicyLevel>& levels, const std::string& path) {
  Policy of_layer;
  for (auto level = levels.rbegin(); level != levels.rend(); ++level) {
    const Policy policy = level->policy.at(relative(path, level->path));
    if (policy.inherits()) continue;
    if (policy.by_op() != nullptr) return policy;
    if (of_layer.inherits()) of_layer = policy;
    if (!level->of_layer) break;
  }
  return of_layer.inherits() ? Policy("float32") : of_layer;
}

}  // namespace mezzo
