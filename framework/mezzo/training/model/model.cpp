#include <mezzo/training/model/model.hpp>

#include <algorithm>
#include <typeinfo>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/adapters.hpp>
#include <mezzo/nn/weight_names.hpp>
#include <mezzo/ops/ops.hpp>
#include <mezzo/training/model/input_shapes.hpp>
#include <mezzo/training/model/named_layers.hpp>

namespace mezzo {

Model::Model(const ModelOptions& options) : Model(options, detail::NamedLayers{}) {}

Model::Model(const ModelOptions& options, const detail::NamedLayers& layers) : Module("Functional", options) {
  if (options.inputs.empty() || options.outputs.empty()) {
    fail<ValueError>(label(), "inputs and outputs are required; got {} inputs and {} outputs", options.inputs.size(),
                     options.outputs.size());
  }
  for (const auto& [name, layer] : layers.entries) state()->enter(name, layer);
  graph_ = detail::FunctionalGraph(options.inputs, options.outputs, *state());
  if (!options.output_names.empty()) graph_.name_outputs(options.output_names, label());
  detail::check_weight_names(*state(), label());
  state()->options.reset();  // they hold the symbols
  state()->content = graph_.layout();
}

namespace {

ModelOptions with(const Values& inputs, const Values& outputs, ModelOptions options) {
  if (!options.inputs.empty()) detail::fail_given_twice("Model", options.name, "inputs");
  if (!options.outputs.empty()) detail::fail_given_twice("Model", options.name, "outputs");
  options.inputs = inputs;
  options.outputs = outputs;
  return options;
}

/// The input with a last axis of size 1 added if only that is missing, or dropped if only that is superfluous, as in
/// Keras.
Value with_last_axis(const Value& x, std::size_t axes, bool ends_with_one) {
  const std::size_t given = x.shape().size();
  if (given + 1 == axes && ends_with_one) return expand_dims(x, -1);
  if (given == axes + 1 && x.shape().back() == 1) return squeeze(x, -1);
  return x;
}

}  // namespace

Model::Model(const Values& inputs, const Values& outputs, ModelOptions options)
    : Model(with(inputs, outputs, std::move(options))) {}

Values Model::call_many(const Values& xs) {
  if (graph_.empty()) {
    if (typeid(*this) == typeid(Model)) {
      fail<ValueError>(label(),
                       "the model is a copy of the base class alone, without what its class computes; hand over the "
                       "handle of load_model() itself, `model` in place of `*model`, or load_model<Sequential>(path)");
    }
    return Layer::call_many(xs);  // a derived class overrides call()
  }
  if (xs.size() != graph_.input_count()) {
    fail<ValueError>(label(), "number of inputs must be {}; got {}", graph_.input_count(), xs.size());
  }
  Values inputs;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const Shape& expected = graph_.input(i).shape;
    const bool ends_with_one = !expected.empty() && expected.back() == 1;
    inputs.push_back(with_last_axis(xs[i], expected.size(), ends_with_one).with_mask(xs[i].mask()));
    const Shape& shape = inputs.back().shape();
    if (!detail::fits(shape, expected)) {
      fail<ShapeError>(label(), "input {} must have shape {}; got shape {}{}", i, expected, xs[i].shape(),
                       detail::batch_axis_hint(xs[i].shape(), expected));
    }
  }
  const auto has_mask = [](const Value& x) { return x.mask().defined(); };
  const bool masked = std::any_of(inputs.begin(), inputs.end(), has_mask);
  if (!masked && !detail::has_adapters(*state())) return graph_.insert(inputs);
  const std::string reason = graph_.why_not_called();
  if (!reason.empty() && !masked) {
    fail<ValueError>(label(), "layers have adapters, and the layers can't be called with them: {}", reason);
  }
  if (!reason.empty()) {
    fail<ValueError>(label(),
                     "an input has a mask, and the layers can't be called with it: {}; make the model from "
                     "x.with_mask(mask) with an Input for the mask, or call it with x.with_mask({{}})",
                     reason);
  }
  return graph_.call_layers(inputs);
}

Value Model::operator()(const Value& x, const CallOptions& options) {
  const Values outputs = Module::operator()(Values{x}, options);
  const bool named = !graph_.empty() || !output_names_.empty();  // other classes have a first output by design
  if (named && outputs.size() != 1) {
    fail<ValueError>(label(),
                     "a call with a Value needs a model with one output; got {}; model(Values{{x}}) returns all",
                     outputs.size());
  }
  return outputs.front();
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
  if (graph_.empty()) {
    fail<ValueError>(label(), "{}: the model must be functional, made from inputs and outputs; got one without symbols",
                     what);
  }
}

detail::LayerHandle Model::get_layer(const std::string& path) const {
  std::shared_ptr<detail::LayerState> layer = state().pointer();
  std::size_t begin = 0;
  while (begin <= path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    std::shared_ptr<detail::LayerState> found;
    std::vector<std::string> names;
    for (const auto& child : layer->children) {
      if (child.first == name) found = child.second.pointer();
      names.push_back(child.first);
    }
    if (!found) fail_unknown(label(), "layer", name, names);
    layer = std::move(found);
    begin = end + 1;
  }
  return handle_of(detail::Shared<detail::LayerState>(layer), path);
}

Any<Layer> Model::find_layer(const detail::LayerState& wanted) const {
  for (const Any<Layer>& layer : graph_.callers()) {
    if (!layer) continue;
    if (layer->state().get() == &wanted) return layer;
    const auto* model = dynamic_cast<const Model*>(&*layer);
    if (model == nullptr) continue;
    if (Any<Layer> found = inside(*model, wanted)) return found;
  }
  return {};
}

detail::LayerHandle Model::handle_of(const detail::Shared<detail::LayerState>& layer, const std::string& path) const {
  std::optional<Value> output;
  if (!graph_.empty()) {
    for (const auto& entry : graph_.symbols().layers) {
      if (entry.first == layer.get()) output = entry.second;
    }
  }
  return {layer, path, output, find_layer(*layer)};
}

std::vector<detail::LayerHandle> Model::layers() const {
  std::vector<detail::LayerHandle> out;
  for (const auto& child : state()->children) out.push_back(handle_of(child.second, child.first));
  return out;
}

const Any<Layer>& detail::LayerHandle::called() const {
  if (layer_) return layer_;
  fail<ValueError>(
      "[Model]",
      "layer \"{}\" must be held by a Sequential or a functional model to be called; got one that is not, or whose "
      "class register_layer() doesn't know: call the layer object",
      path_);
}

Value detail::LayerHandle::output() const {
  if (!output_) {
    fail<ValueError>("[Model]", "layer \"{}\" must be part of a functional graph; got one without a symbol", path_);
  }
  return *output_;
}

}  // namespace mezzo
