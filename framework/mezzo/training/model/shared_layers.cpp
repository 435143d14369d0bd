#include <mezzo/training/model/shared_layers.hpp>

#include <set>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

SharedLayers*& innermost() {
  static thread_local SharedLayers* one = nullptr;
  return one;
}

void keep_numbers(Json& json, const std::set<std::int64_t>& numbers) {
  if (!json.is_structured()) return;
  if (json.is_object() && json.contains("class_name") && json.contains("config")) {
    const auto shared = json.find("shared");
    if (shared != json.end() && numbers.count(shared->get<std::int64_t>()) == 0) json.erase(shared);
  }
  for (Json& part : json) keep_numbers(part, numbers);
}

}  // namespace

SharedLayers::SharedLayers() : outer_(innermost()) { innermost() = this; }

SharedLayers::~SharedLayers() { innermost() = outer_; }

SharedLayers* SharedLayers::current() { return innermost(); }

std::int64_t SharedLayers::number_of(const LayerState& layer) {
  const auto next = static_cast<std::int64_t>(written_.size());
  Written& one = written_.try_emplace(&layer, Written{.number = next, .count = 0}).first->second;
  ++one.count;
  return one.number;
}

void SharedLayers::keep_repeated(Json& config) const {
  std::set<std::int64_t> numbers;
  for (const auto& entry : written_) {
    if (entry.second.count > 1) numbers.insert(entry.second.number);
  }
  keep_numbers(config, numbers);
}

Any<Layer> SharedLayers::find(std::int64_t number, const std::string& class_name) const {
  const auto found = read_.find(number);
  if (found == read_.end()) return {};
  const auto& [known, layer] = found->second;
  if (known != class_name) {
    fail<ValueError>("[config]", "layers that are shared must have one class; got \"{}\" and \"{}\" with the number {}",
                     known, class_name, number);
  }
  return layer;
}

void SharedLayers::add(std::int64_t number, const std::string& class_name, const Any<Layer>& layer) {
  read_.emplace(number, std::pair(class_name, layer));
}

}  // namespace mezzo::detail
