#include <mezzo/training/model/tensors.hpp>

#include <set>

#include <mezzo/core/fail.hpp>

namespace mezzo {

Tensors::Tensors(const std::vector<Tensor>& list) {
  for (const Tensor& tensor : list) entries_.emplace_back("", tensor);
}

Tensors::Tensors(std::vector<Entry> named) : entries_(std::move(named)), named_(true) {
  std::set<std::string> names;
  for (const Entry& entry : entries_) {
    if (entry.first.empty()) fail<NameError>("[Tensors]", "names must not be empty; got an empty one");
    if (!names.insert(entry.first).second) {
      fail<NameError>("[Tensors]", "names must differ; got \"{}\" twice", entry.first);
    }
  }
}

const Tensor& Tensors::operator[](std::size_t i) const {
  if (i >= entries_.size()) {
    fail<ValueError>("[Tensors]", "index must be less than the number of arrays, {}; got {}", entries_.size(), i);
  }
  return entries_[i].second;
}

const Tensor& Tensors::operator[](const std::string& name) const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) {
    if (named_ && entry.first == name) return entry.second;
    if (named_) names.push_back(entry.first);
  }
  fail_unknown("[Tensors]", "name", name, names);
}

void Tensors::check_count(std::size_t count) const {
  if (entries_.size() != count) {
    fail<ValueError>("[Tensors]", "unpack: the number of arrays must be {}; got {}", count, entries_.size());
  }
}

}  // namespace mezzo
