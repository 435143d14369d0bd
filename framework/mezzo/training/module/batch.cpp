#include <mezzo/training/module/batch.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>

namespace mezzo {

const Value& Batch::operator[](const std::string& field) const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) {
    if (entry.name == field) return entry.value;
    names.push_back(entry.name);
  }
  fail_unknown("[Batch]", "field", field, names);
}

bool Batch::has(const std::string& field) const {
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.name == field; });
}

Batch Batch::part(const std::string& loader) const {
  const std::string prefix = loader + "/";
  std::vector<Entry> entries;
  std::vector<std::string> names;
  for (const Entry& entry : entries_) {
    names.push_back(entry.name);
    if (entry.name.rfind(prefix, 0) == 0) {
      entries.push_back({entry.name.substr(prefix.size()), entry.value, entry.role});
    }
  }
  if (entries.empty()) {
    fail<NameError>("[Batch]", "part(\"{}\"): there must be fields of that loader; got the fields {}", loader,
                    fmt::join(names, ", "));
  }
  const std::int64_t samples = entries.front().value.shape()[0];
  return {std::move(entries), samples};
}

bool Batch::has_part(const std::string& loader) const {
  const std::string prefix = loader + "/";
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& entry) { return entry.name.rfind(prefix, 0) == 0; });
}

Values Batch::with_role(Role role) const {
  Values out;
  for (const Entry& entry : entries_) {
    if (entry.role == role) out.push_back(entry.value);
  }
  return out;
}

}  // namespace mezzo
