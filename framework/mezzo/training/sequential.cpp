#include <mezzo/training/sequential.hpp>

#include <mezzo/core/fail.hpp>

namespace mezzo {

Sequential::Sequential(std::vector<Any<Layer>> layers, const SequentialOptions& options)
    : Model("Sequential", options), layers_(std::move(layers)) {
  Value input;
  if (!layers_.empty()) {
    if (const auto* first = dynamic_cast<const InputLayer*>(&*layers_.front())) {
      input = first->symbol();
      layers_.erase(layers_.begin());
    }
  }
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (dynamic_cast<const InputLayer*>(&*layers_[i]) != nullptr) {
      fail<ValueError>(label(), "Input must be the first layer; got one at index {}", i + (input.defined() ? 1 : 0));
    }
    declare(layers_[i]->name(), layers_[i]->state());
  }
  if (input.defined()) build(input.shape());
}

Value Sequential::call(const Value& x) {
  Value value = x;
  for (const auto& layer : layers_) value = (*layer)(value);
  return value;
}

}  // namespace mezzo
