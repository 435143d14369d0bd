#include <mezzo/training/sequential.hpp>

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
  for (const auto& layer : layers_) {
    if (dynamic_cast<const InputLayer*>(&*layer) != nullptr) throw ValueError(label() + " Input comes first");
    declare(layer->name(), layer->state());
  }
  if (input.defined()) build(input.shape());
}

Value Sequential::call(const Value& x) {
  Value value = x;
  for (const auto& layer : layers_) value = (*layer)(value);
  return value;
}

}  // namespace mezzo
