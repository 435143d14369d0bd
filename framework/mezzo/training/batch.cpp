#include <mezzo/training/batch.hpp>

#include <algorithm>

namespace mezzo {

const Value& Batch::operator[](const std::string& field) const {
  std::string good;
  for (const Entry& entry : entries_) {
    if (entry.name == field) return entry.value;
    good += (good.empty() ? "" : ", ") + entry.name;
  }
  throw NameError("no field \"" + field + "\" in the batch; there are: " + good);
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
