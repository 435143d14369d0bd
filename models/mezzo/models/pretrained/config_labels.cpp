#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/models/pretrained/config_fields.hpp>

namespace mezzo::detail {
namespace {

constexpr std::size_t most_labels = 1'000'000;

/// Names by class of {"0": "cat", "1": "dog"}; empty if it isn't such an object.
std::vector<std::string> names_by_class(const Json& id2label) {
  std::vector<std::string> names(id2label.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto found = id2label.find(fmt::to_string(i));
    if (found == id2label.end() || !found->is_string()) return {};
    names[i] = found->get<std::string>();
  }
  return names;
}

}  // namespace

void ConfigFields::read_labels(std::int64_t& num_labels) {
  for (const char* key : {"num_labels", "_num_labels"}) {
    if (find(key) != nullptr) size(key, num_labels);
  }
  if (const Json* const names = find("id2label")) {
    if (names->is_object() && names->size() <= most_labels) labels_ = names_by_class(*names);
    if (labels_.empty()) refuse("id2label", R"(an object with names of the classes "0", "1", ...)");
    const bool differs = find("num_labels") != nullptr && static_cast<std::size_t>(num_labels) != labels_.size();
    if (differs) refuse("num_labels", fmt::format("{}, the number of names in id2label", labels_.size()));
    num_labels = static_cast<std::int64_t>(labels_.size());
  }
  find("label2id");
}

void ConfigFields::labels(std::int64_t& num_labels) {
  used_labels_ = true;
  if (!writes_) {
    read_labels(num_labels);
    if (!options_.num_labels) return;
    if (*options_.num_labels < 1)
      fail<ValueError>(where_, "num_labels must be at least 1; got {}", *options_.num_labels);
    num_labels = *options_.num_labels;
    if (labels_.size() != static_cast<std::size_t>(num_labels)) labels_.clear();
    return;
  }
  if (!labels_.empty() && labels_.size() != static_cast<std::size_t>(num_labels)) {
    fail<ValueError>(where_, "labels must have {} names; got {}", num_labels, labels_.size());
  }
  std::set<std::string> seen;
  for (const std::string& label : labels_) {
    if (!seen.insert(label).second) fail<ValueError>(where_, "labels must differ; got \"{}\" twice", label);
  }
  Json names = Json::object(), classes = Json::object();
  for (std::int64_t i = 0; i < num_labels; ++i) {
    const std::string name = labels_.empty() ? fmt::format("LABEL_{}", i) : labels_[static_cast<std::size_t>(i)];
    names[fmt::to_string(i)] = name;
    classes[name] = i;
  }
  write("id2label", std::move(names));
  write("label2id", std::move(classes));
  for (const char* key : {"num_labels", "_num_labels"}) drop(key);
}

}  // namespace mezzo::detail
