#include <algorithm>
#include <set>
#include <typeinfo>

#include <mezzo/core/fail.hpp>
#include <mezzo/layers/core/lambda.hpp>
#include <mezzo/nn/layer_label.hpp>
#include <mezzo/training/model/model_config.hpp>
#include <mezzo/training/model/sequential.hpp>
#include <mezzo/training/model/shared_layers.hpp>

namespace mezzo::detail {
namespace {

/// Members that all layers have.
void add_common(const LayerState& state, Json& config) {
  config["name"] = state.name;
  config["trainable"] = state.trainable;
  config["dtype"] = write_policy(state.policy, label_of(state));
}

Json write_operand(const GraphLayout::Operand& operand) {
  using Kind = GraphLayout::Operand::Kind;
  if (operand.kind == Kind::input) return {{"input", operand.index}};
  if (operand.kind == Kind::call) return {{"call", operand.index}, {"output", operand.output}};
  const Tensor array = operand.constant.tensor();
  if (!operand.constant.weak()) return {{"constant", write_tensor(array, "[save]")}};
  return {{"number", write_double(array.item())}, {"integer", !is_floating(array.dtype())}};
}

Json write_operands(const std::vector<GraphLayout::Operand>& operands) {
  Json out = Json::array();
  for (const GraphLayout::Operand& operand : operands) out.push_back(write_operand(operand));
  return out;
}

Json write_sequence(const LayerState& model) {
  const auto* layout = std::any_cast<SequenceLayout>(&model.content);
  if (layout == nullptr) fail<ValueError>(label_of(model), "the model must have a layer to be saved; got none");
  Json layers = Json::array(), order = Json::array();
  std::vector<const LayerState*> seen;
  for (const Shared<LayerState>& layer : layout->layers) {
    auto place = static_cast<std::size_t>(std::find(seen.begin(), seen.end(), layer.get()) - seen.begin());
    if (place == seen.size()) {
      seen.push_back(layer.get());
      Json item = write_layer(*layer);
      item["name"] = entry_of(model, *layer);
      layers.push_back(std::move(item));
    }
    order.push_back(place);
  }
  Json config{{"layers", layers}, {"order", order}, {"input", nullptr}};
  if (layout->input) {
    config["input"] = write_spec(*layout->input);
    config["input"]["name"] = layout->input_name;
  }
  return config;
}

}  // namespace

const std::string& entry_of(const LayerState& parent, const LayerState& child) {
  for (const auto& entry : parent.children) {
    if (entry.second.get() == &child) return entry.first;
  }
  fail<ValueError>(label_of(parent), "{} must be one of its layers to be saved", label_of(child));
}

Json write_spec(const Spec& spec) {
  Json json{{"shape", spec.shape}, {"dtype", dtype_name(spec.dtype)}};
  read_spec(json, "[save] input");  // raises the errors of loading
  return json;
}

Json write_graph(const LayerState& model) {
  const auto* layout = std::any_cast<GraphLayout>(&model.content);
  const std::string where = label_of(model);
  if (layout == nullptr) fail<ValueError>(where, "the model must be functional to be saved");
  if (!layout->problem.empty()) {
    fail<ValueError>(where, "the model can't be saved: {}; put that part into a layer", layout->problem);
  }
  Json layers = Json::array(), calls = Json::array(), inputs = Json::array();
  for (const auto& [name, layer] : model.children) {
    Json item = write_layer(*layer);
    item["name"] = name;
    layers.push_back(std::move(item));
  }
  for (std::size_t i = 0; i < layout->inputs.size(); ++i) {
    Json input = write_spec(layout->inputs[i]);
    input["name"] = layout->input_names[i];
    inputs.push_back(std::move(input));
  }
  for (const GraphLayout::Call& call : layout->calls) {
    Json item = call.layer ? Json{{"layer", entry_of(model, **call.layer)}} : write_op(*call.op, call.attributes);
    item["inputs"] = write_operands(call.inputs);
    if (call.layer && call.training) item["training"] = *call.training;
    if (!call.masked.empty()) item["masked"] = call.masked;
    if (!call.arguments.empty()) item["arguments"] = Json::parse(call.arguments);
    calls.push_back(std::move(item));
  }
  Json config{{"inputs", inputs}, {"layers", layers}, {"calls", calls}, {"outputs", write_operands(layout->outputs)}};
  if (!layout->output_names.empty()) config["output_names"] = layout->output_names;
  return config;
}

Any<Layer> copy_container(const Layer& layer) {
  if (typeid(layer) == typeid(Sequential)) return static_cast<const Sequential&>(layer);
  if (typeid(layer) == typeid(Model)) return static_cast<const Model&>(layer);
  if (typeid(layer) == typeid(Lambda)) return static_cast<const Lambda&>(layer);
  return {};
}

Json write_layer(const LayerState& state) {
  const ConfigDepth depth;
  const std::string where = label_of(state);
  if (state.type == nullptr) fail<ValueError>(where, "the layer must have been called to be saved");
  Json config;
  std::string class_name;
  if (*state.type == typeid(Sequential)) {
    class_name = "Sequential";
    config = write_sequence(state);
  } else if (*state.type == typeid(Model)) {
    class_name = "Functional";
    config = write_graph(state);
  } else if (const SavedClass<Layer>* entry = find_class<Layer>(*state.type)) {
    class_name = entry->name;
    config = write_options(*entry, state.options);
  } else if (*state.type == typeid(Lambda)) {
    fail<ValueError>(where,
                     "a Lambda can't be saved, since it holds a function of the program; derive a class from "
                     "Layer and register it by register_layer(), or save only the weights by save_weights()");
  } else {
    fail<ValueError>(where,
                     "the class of this layer is not known; register it by register_layer<{}, ...>(\"my>{}\") "
                     "before saving",
                     state.kind, state.kind);
  }
  add_common(state, config);
  Json out{{"class_name", class_name}, {"config", config}};
  if (SharedLayers* const shared = SharedLayers::current()) out["shared"] = shared->number_of(state);
  return out;
}

}  // namespace mezzo::detail
