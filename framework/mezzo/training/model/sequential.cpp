#include <mezzo/training/model/sequential.hpp>

#include <algorithm>
#include <typeinfo>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/model/input_shapes.hpp>
#include <mezzo/training/step/step_runner.hpp>

namespace mezzo {
namespace {

const InputLayer* input_of(const Any<Layer>& layer) { return dynamic_cast<const InputLayer*>(&*layer); }

}  // namespace

Sequential::Sequential(const SequentialOptions& options) : Model("Sequential", options) {}

Sequential::Sequential(std::vector<Any<Layer>> layers, const SequentialOptions& options) : Sequential(options) {
  assign_layers(std::move(layers));
}

void Sequential::assign_layers(std::vector<Any<Layer>> layers) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!layers[i]) fail<ValueError>(label(), "layer {} must be given; got an empty Any<Layer>", i);
  }
  Content& content = *content_;
  content.layers = std::move(layers);
  if (!content.layers.empty()) {
    if (const InputLayer* first = input_of(content.layers.front())) {
      content.input = first->symbol();
      content.layers.erase(content.layers.begin());
    }
  }
  for (std::size_t i = 0; i < content.layers.size(); ++i) {
    if (input_of(content.layers[i]) != nullptr) {
      fail<ValueError>(label(), "Input must be the first layer; got one at index {}",
                       i + (content.input.defined() ? 1 : 0));
    }
    declare(content.layers[i]->name(), content.layers[i]->state());
  }
  note_layout();
  if (content.input.defined() && !content.layers.empty()) build(content.input.shape());
}

void Sequential::note_layout() {
  detail::SequenceLayout layout;
  for (const Any<Layer>& layer : content_->layers) {
    const Layer& held = *layer;
    held.state()->type = &typeid(held);
    layout.layers.push_back(held.state());
  }
  if (const Value& input = content_->input; input.defined()) {
    layout.input = Spec{input.shape(), input.dtype()};
    layout.input_name = input.node()->attributes.get_or("name", std::string());
  }
  state()->content = std::move(layout);
}

void Sequential::add(const Any<Layer>& layer) {
  if (!layer) fail<ValueError>(label(), "add: the layer must be given; got an empty Any<Layer>");
  const detail::IdleScope idle(*this);
  Content& content = *content_;
  if (const InputLayer* input = input_of(layer)) {
    if (!content.layers.empty() || content.input.defined()) {
      fail<ValueError>(label(), "add: Input must be the first layer; got one at index {}",
                       content.layers.size() + (content.input.defined() ? 1 : 0));
    }
    content.input = input->symbol();
    note_layout();
    return;
  }
  const std::size_t entries = state()->children.size();
  state()->enter(layer->name(), layer->state());
  content.layers.push_back(layer);
  try {
    renew();
  } catch (...) {
    content.layers.pop_back();
    state()->children.resize(entries, state()->children.front());
    note_layout();
    throw;
  }
}

Any<Layer> Sequential::pop() {
  Content& content = *content_;
  if (content.layers.empty()) fail<ValueError>(label(), "pop: the model must have a layer; got none");
  const detail::IdleScope idle(*this);
  Any<Layer> last = std::move(content.layers.back());
  content.layers.pop_back();
  const auto same = [&](const auto& layer) { return layer->state().get() == last->state().get(); };
  if (std::none_of(content.layers.begin(), content.layers.end(), same)) {
    auto& children = state()->children;
    children.erase(std::remove_if(children.begin(), children.end(),
                                  [&](const auto& child) { return child.second.get() == last->state().get(); }),
                   children.end());
  }
  renew();
  return last;
}

void Sequential::renew() {
  note_layout();
  built_ = false;
  state()->called = false;
  state()->last_output.reset();
  if (content_->input.defined() && !content_->layers.empty()) build(content_->input.shape());
  detail::forget_training(*this);
}

Value Sequential::call(const Value& x) {
  if (content_->layers.empty() && !content_->input.defined()) {
    fail<ValueError>(label(), "the model must have a layer; got none: add() one");
  }
  if (content_->input.defined()) detail::require_batch_axis(label(), 0, x.shape(), content_->input.shape());
  Value value = x;
  for (const auto& layer : content_->layers) value = layer(value);
  return value;
}

Any<Layer> Sequential::find_layer(const detail::LayerState& wanted) const {
  for (const Any<Layer>& layer : content_->layers) {
    if (layer->state().get() == &wanted) return layer;
    const auto* model = dynamic_cast<const Model*>(&*layer);
    if (model == nullptr) continue;
    if (Any<Layer> found = inside(*model, wanted)) return found;
  }
  return {};
}

}  // namespace mezzo
