#include <mezzo/training/batch.hpp>

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

Values Batch::with_role(Role role) const {
  Values out;
  for (const Entry& entry : entries_) {
    if (entry.role == role) out.push_back(entry.value);
  }
  return out;
}

}  // namespace mezzo
