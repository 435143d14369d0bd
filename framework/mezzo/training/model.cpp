#include <mezzo/training/model.hpp>

#include <algorithm>

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

Values Model::inputs() const {
  require_functional("inputs()");
  return graph_.symbols().inputs;
}

Values Model::outputs() const {
  require_functional("outputs()");
  return graph_.symbols().outputs;
}

void Model::require_functional(const std::string& what) const {
  if (graph_.empty())
    throw ValueError(label() + " " + what + ": only a model made from inputs and outputs has symbols");
}

LayerHandle Model::get_layer(const std::string& path) const {
  std::shared_ptr<LayerState> layer = state().pointer();
  std::size_t begin = 0;
  while (begin <= path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    std::shared_ptr<LayerState> found;
    std::string good;
    for (const auto& child : layer->children) {
      if (child.first == name) found = child.second.pointer();
      good += (good.empty() ? "" : ", ") + child.first;
    }
    if (!found) throw NameError(label() + " no layer \"" + name + "\"; there are: " + good);
    layer = std::move(found);
    begin = end + 1;
  }
  std::optional<Value> output;
  if (!graph_.empty()) {
    for (const auto& entry : graph_.symbols().layers) {
      if (entry.first == layer.get()) output = entry.second;
    }
  }
  return {Shared<LayerState>(layer), path, output};
}

Value LayerHandle::output() const {
  if (!output_) throw ValueError("[Model] layer \"" + path_ + "\" has no symbol: it is not part of a functional graph");
  return *output_;
}

}  // namespace mezzo
