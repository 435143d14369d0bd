#include <mezzo/model/model.hpp>

namespace mezzo {

Model::Model(const ModelOptions& options) : Module("Functional", options) {
  if (options.inputs.empty() || options.outputs.empty()) throw ValueError(label() + " give .inputs and .outputs");
  graph_ = FunctionalGraph(options.inputs, options.outputs, *state());
}

Values Model::call_many(const Values& xs) {
  if (graph_.empty()) return Layer::call_many(xs);  // a subclass overrides call()
  if (xs.size() != graph_.input_count()) {
    throw ValueError(label() + " takes " + std::to_string(graph_.input_count()) + " inputs; got " +
                     std::to_string(xs.size()));
  }
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const Shape& expected = graph_.input(i).shape;
    const Shape& shape = xs[i].shape();
    bool fits = shape.size() == expected.size();
    for (std::size_t axis = 0; fits && axis < shape.size(); ++axis) {
      fits = shape[axis] == expected[axis] || expected[axis] < 0;
    }
    if (!fits) {
      throw ShapeError(label() + " input " + std::to_string(i) + " must have shape " + to_string(expected) +
                       "; got shape " + to_string(shape));
    }
  }
  return graph_.insert(xs);
}

Shared<LayerState> Model::get_layer(const std::string& path) const {
  Shared<LayerState> layer = state();
  std::size_t begin = 0;
  while (begin <= path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    std::string good;
    const Shared<LayerState>* found = nullptr;
    for (const auto& child : layer->children) {
      if (child.first == name) found = &child.second;
      good += (good.empty() ? "" : ", ") + child.first;
    }
    if (found == nullptr) throw NameError(label() + " no layer \"" + name + "\"; there are: " + good);
    const Shared<LayerState> next = *found;
    layer = next;
    begin = end + 1;
  }
  return layer;
}

}  // namespace mezzo
