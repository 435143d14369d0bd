#include <mezzo/io/tensor_file.hpp>

#include <utility>

#include <mezzo/core/fail.hpp>

namespace mezzo {

std::vector<std::string> TensorFile::names() const {
  std::vector<std::string> out;
  for (const Entry& entry : entries_) out.push_back(entry.name);
  return out;
}

const TensorFile::Entry* TensorFile::find(const std::string& name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &entries_[found->second];
}

void TensorFile::add(Entry entry) {
  places_[entry.name] = entries_.size();
  entries_.push_back(std::move(entry));
}

std::size_t TensorFile::index_of(const std::string& name, const std::string& where) const {
  const auto found = places_.find(name);
  if (found == places_.end()) {
    fail<NameError>(where, "unknown tensor \"{}\"; the file has {} others", name, entries_.size());
  }
  return found->second;
}

}  // namespace mezzo
