#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <typeinfo>

#include <mezzo/core/edit_distance.hpp>
#include <mezzo/core/fail.hpp>
#include <mezzo/graph/node_budget.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/nn/adapter_config.hpp>
#include <mezzo/nn/called_layer.hpp>
#include <mezzo/training/model/keras_model_files.hpp>
#include <mezzo/training/model/model_config.hpp>
#include <mezzo/training/model/named_layers.hpp>
#include <mezzo/training/model/shared_layers.hpp>

namespace mezzo::detail {

namespace {

constexpr std::size_t max_axes = 16;

/// Class, config and common members of a layer.
// NOLINTNEXTLINE(bugprone-exception-escape): moving Json throws nothing
struct LayerParts {
  std::string class_name, name;
  Json config;  ///< without the common members
  Policy policy;
  bool trainable = true;
};

LayerParts layer_parts(const Json& json) {
  ObjectParts object = read_parts(json, "layer");
  const std::string where = fmt::format("[{}]", object.class_name);
  LayerParts parts;
  parts.class_name = object.class_name;
  if (const auto found = object.config.find("name"); found != object.config.end()) {
    if (!found->is_null()) parts.name = read_string(*found, where + " name");
  }
  checked_layer_name(where, parts.name);
  if (const auto found = object.config.find("trainable"); found != object.config.end()) {
    parts.trainable = read_bool(*found, where + " trainable");
  }
  if (const auto found = object.config.find("dtype"); found != object.config.end()) {
    parts.policy = read_policy(*found, where);
  }
  for (const char* common : {"name", "trainable", "dtype"}) object.config.erase(common);
  parts.config = std::move(object.config);
  return parts;
}

void refuse_others(const Json& json, std::initializer_list<const char*> known, const std::string& where) {
  for (const auto& item : json.items()) {
    if (std::find(known.begin(), known.end(), item.key()) != known.end()) continue;
    fail_unknown(where, "member", item.key(), std::vector<std::string>(known.begin(), known.end()));
  }
}

const Json& list_in(const Json& json, const char* name, const std::string& where) {
  const Json& list = member(json, name, where);
  if (!list.is_array()) fail<ValueError>(where, "\"{}\" must be a list; got {}", name, excerpt(list));
  return list;
}

std::size_t index_in(const Json& json, std::size_t count, const std::string& what) {
  const std::int64_t index = read_int(json, what);
  if (index < 0 || static_cast<std::size_t>(index) >= count) {
    fail<ValueError>(what, "must be an index below {}; got {}", count, index);
  }
  return static_cast<std::size_t>(index);
}

/// Name in the parent of one of its layers.
std::string entry_in(const Json& json, const std::string& where) {
  const std::string name = read_string(member(json, "name", where), where + " name of a layer");
  if (name.empty()) fail<NameError>(where, "sub-layer name must not be empty; got \"\"");
  return checked_layer_name(where + " sub-layer", name);
}

/// The layers of a model with their names in it. A NameError for a name given twice.
std::vector<std::pair<std::string, Any<Layer>>> read_layers(const Json& config, const std::string& where) {
  std::vector<std::pair<std::string, Any<Layer>>> layers;
  std::set<std::string> names;
  std::set<const LayerState*> states;
  for (const Json& item : list_in(config, "layers", where)) {
    const std::string name = entry_in(item, where);
    if (!names.insert(name).second) fail<NameError>(where, "names of layers must differ; got \"{}\" twice", name);
    layers.emplace_back(name, read_layer(item));
    if (!states.insert(layers.back().second->state().get()).second) {
      fail<ValueError>(where, "a model must list a layer once; got \"{}\" with the number of another one", name);
    }
  }
  return layers;
}

Input read_input(const Json& json, const std::string& where) {
  const Spec spec = read_spec(json, where);
  std::string name;
  if (const auto found = json.find("name"); found != json.end()) name = read_string(*found, where + " name");
  return Input({.shape = Shape(spec.shape.begin() + 1, spec.shape.end()),
                .batch_size = spec.shape.front(),
                .dtype = spec.dtype,
                .name = name});
}

Sequential read_sequential(const LayerParts& parts) {
  const std::string where = "[Sequential]";
  refuse_others(parts.config, {"layers", "order", "input"}, where);
  const auto layers = read_layers(parts.config, where);
  std::vector<Any<Layer>> all;
  std::set<std::size_t> used;
  for (const Json& place : list_in(parts.config, "order", where)) {
    const std::size_t index = index_in(place, layers.size(), where + " order");
    used.insert(index);
    all.push_back(layers[index].second);
  }
  if (used.size() != layers.size()) fail<ValueError>(where, "order must name every layer");
  if (all.size() > max_config_bytes / 8) fail<ValueError>(where, "too many layers");
  Sequential model({.name = parts.name, .dtype = parts.policy});
  model.state()->trainable = parts.trainable;
  for (const auto& [name, layer] : layers) model.state()->enter(name, layer->state());
  const Json& input = member(parts.config, "input", where);
  if (!input.is_null()) all.insert(all.begin(), read_input(input, where));
  NamedLayers::fill(model, std::move(all));
  return model;
}

Value read_operand(const Json& json, const Values& inputs, const std::vector<Values>& calls) {
  const std::string where = "[Functional]";
  if (!json.is_object()) fail<ValueError>(where, "an operand must be an object; got {}", excerpt(json));
  if (const auto input = json.find("input"); input != json.end()) {
    return inputs[index_in(*input, inputs.size(), where + " input")];
  }
  if (const auto number = json.find("number"); number != json.end()) {
    const double value = read_double(*number, where + " number");
    if (!read_bool(member(json, "integer", where), where + " integer")) return value;
    if (!(value >= -9e15 && value <= 9e15)) fail<ValueError>(where, "number must be an integer; got {}", value);
    return static_cast<std::int64_t>(value);
  }
  if (const auto constant = json.find("constant"); constant != json.end()) {
    return read_tensor(*constant, where + " constant");
  }
  const std::int64_t call = read_int(member(json, "call", where), where + " call");
  if (call < 0 || call >= static_cast<std::int64_t>(calls.size())) {
    fail<ValueError>(where,
                     "call {} has an operand from call {}: a call may only use earlier ones, so that the graph has "
                     "no cycle",
                     calls.size(), call);
  }
  const Values& outputs = calls[static_cast<std::size_t>(call)];
  return outputs[index_in(member(json, "output", where), outputs.size(), where + " output")];
}

Values read_operands(const Json& list, const Values& inputs, const std::vector<Values>& calls) {
  Values out;
  for (const Json& item : list) out.push_back(read_operand(item, inputs, calls));
  return out;
}

/// Calls a layer as described in its config.
Values call_layer(Layer& layer, const Values& xs, const Json& json) {
  const std::string where = "[Functional]";
  GraphLayout::Call call;
  if (const auto training = json.find("training"); training != json.end()) {
    call.training = read_bool(*training, where + " training");
  }
  if (const auto masked = json.find("masked"); masked != json.end()) {
    const Json& places = list_in(json, "masked", where);
    if (places.size() >= xs.size()) {
      fail<ValueError>(where, "a call must have inputs and a mask for each entry of masked; got {}", excerpt(json));
    }
    for (const Json& place : places) {
      call.masked.push_back(static_cast<std::int64_t>(index_in(place, xs.size() - places.size(), where + " masked")));
    }
  }
  if (const auto arguments = json.find("arguments"); arguments != json.end()) call.arguments = arguments->dump();
  return call_again(layer, call, xs);
}

std::vector<std::string> read_output_names(const Json& config, const std::string& where) {
  std::vector<std::string> names;
  if (!config.contains("output_names")) return names;
  for (const Json& name : list_in(config, "output_names", where)) {
    names.push_back(read_string(name, where + " output_names"));
  }
  if (names.empty()) fail<ValueError>(where, "output_names must name the outputs; got none");
  return names;
}

Model read_functional(const LayerParts& parts) {
  const std::string where = "[Functional]";
  refuse_others(parts.config, {"inputs", "layers", "calls", "outputs", "output_names"}, where);
  const auto layers = read_layers(parts.config, where);
  Values inputs;
  for (const Json& input : list_in(parts.config, "inputs", where)) inputs.push_back(read_input(input, where));
  std::vector<Values> calls;
  for (const Json& call : list_in(parts.config, "calls", where)) {
    const Values xs = read_operands(list_in(call, "inputs", where), inputs, calls);
    const auto name = call.find("layer");
    if (name == call.end()) {
      calls.push_back({read_op(call, xs)});
      continue;
    }
    const std::string wanted = read_string(*name, where + " layer");
    const auto found =
        std::find_if(layers.begin(), layers.end(), [&](const auto& entry) { return entry.first == wanted; });
    if (found == layers.end()) fail<NameError>(where, "a call names the layer \"{}\", which the model lacks", wanted);
    calls.push_back(call_layer(*found->second, xs, call));
  }
  const Values outputs = read_operands(list_in(parts.config, "outputs", where), inputs, calls);
  NamedLayers named;
  for (const auto& [name, layer] : layers) named.entries.emplace_back(name, layer->state());
  Model model = NamedLayers::functional({.inputs = inputs,
                                         .outputs = outputs,
                                         .name = parts.name,
                                         .dtype = parts.policy,
                                         .output_names = read_output_names(parts.config, where)},
                                        named);
  model.state()->trainable = parts.trainable;
  return model;
}

std::map<std::string, Any<Model> (*)(const Any<Layer>&)>& model_makers() {
  static auto* const makers = new std::map<std::string, Any<Model> (*)(const Any<Layer>&)>;
  return *makers;
}

std::mutex& makers_mutex() {
  static auto* const one = new std::mutex;
  return *one;
}

void (*onnx_registration)() = nullptr;

/// Registers the class of models of ONNX files. A NameError without the library that has it.
void require_onnx_models() {
  if (onnx_registration == nullptr) {
    fail<NameError>("",
                    "the model was read from an ONNX file: link mezzo::onnx and include <mezzo/onnx.hpp> to load it");
  }
  onnx_registration();
}

}  // namespace

bool set_onnx_registration(void (*register_classes)()) {
  onnx_registration = register_classes;
  return true;
}

Spec read_spec(const Json& json, const std::string& where) {
  Spec spec;
  const Json& shape = list_in(json, "shape", where);
  if (shape.empty() || shape.size() > max_axes) {
    fail<ValueError>(where, "shape must have 1 to {} sizes; got {}", max_axes, excerpt(shape));
  }
  for (const Json& item : shape) {
    const std::int64_t size = read_int(item, where + " shape");
    if (size < -1 || size > max_config_axis) fail<ValueError>(where, "sizes must be from -1 to 2^31; got {}", size);
    spec.shape.push_back(size);
  }
  if (!fits_config(spec.shape))
    fail<ValueError>(where, "shape must have at most 2^40 elements; got {}", excerpt(shape));
  spec.dtype = dtype_from_name(read_string(member(json, "dtype", where), where + " dtype"));
  return spec;
}

namespace {

std::vector<std::string> layer_class_names() {
  std::vector<std::string> names = class_names<Layer>();
  names.insert(names.end(), {"Functional", "Sequential"});
  return names;
}

/// Makes a layer that no other place of the config has.
Any<Layer> read_new_layer(const LayerParts& parts) {
  if (parts.class_name == "Sequential") return read_sequential(parts);
  if (parts.class_name == "Functional") return read_functional(parts);
  if (parts.class_name == onnx_model_class) require_onnx_models();
  if (parts.class_name == operation_layer_class) keras_model_files().register_operations();
  const SavedClass<Layer>* entry = find_class<Layer>(parts.class_name);
  if (entry == nullptr) {
    fail<NameError>("",
                    "unknown layer \"{}\"; layers of your own must be registered by register_layer() before loading, "
                    "models by register_model(){}",
                    parts.class_name, nearest_text(parts.class_name, layer_class_names()));
  }
  Any<Layer> layer = read_options(*entry, parts.config, parts.name, parts.policy);
  const Layer& held = *layer;
  held.state()->policy = parts.policy;
  held.state()->trainable = parts.trainable;
  held.state()->type = &typeid(held);
  return layer;
}

}  // namespace

Any<Layer> read_layer(const Json& json, const Policy& policy) {
  const ConfigDepth depth;
  LayerParts parts = layer_parts(json);
  if (!policy.inherits()) parts.policy = policy;
  const auto number = json.find("shared");
  SharedLayers* const shared = SharedLayers::current();
  if (number == json.end() || shared == nullptr) return read_new_layer(parts);
  const std::int64_t key = read_int(*number, fmt::format("[{}] shared", parts.class_name));
  if (Any<Layer> known = shared->find(key, parts.class_name)) return known;
  const Any<Layer> layer = read_new_layer(parts);
  shared->add(key, parts.class_name, layer);
  return layer;
}

Any<Model> read_model(const Json& json, const Policy& policy, const Policy& otherwise) {
  const ConfigDepth depth;
  const SharedLayers shared;
  LayerParts parts = layer_parts(json);
  Policy root = policy.inherits() ? parts.policy : policy;
  if (root.inherits() && otherwise != dtype_policy()) root = otherwise;  // else the global policy applies
  parts.policy = root;
  std::optional<Any<Model>> model;
  if (parts.class_name == "Sequential") {
    model = Any<Model>(read_sequential(parts));
  } else if (parts.class_name == "Functional") {
    model = Any<Model>(read_functional(parts));
  } else {
    Any<Layer> layer = read_layer(json, root);
    const std::lock_guard<std::mutex> lock(makers_mutex());
    const auto maker = model_makers().find(parts.class_name);
    if (maker == model_makers().end()) {
      fail<NameError>("", "\"{}\" must be a model: Functional, Sequential, or a class that register_model() knows",
                      parts.class_name);
    }
    model = maker->second(layer);
  }
  const Model& held = **model;
  const auto build = json.find("build");
  if (build != json.end() && !build->is_null() && !held.state()->called) {
    if (!build->is_array() || build->empty()) fail<ValueError>("[config]", "build must be a list of inputs");
    Values xs;
    for (const Json& input : *build) xs.push_back(read_input(input, "[config] build"));
    const OutsideTrace symbols_only;
    (**model)(xs);
  }
  held.state()->type = &typeid(held);
  if (const auto adapters = json.find("lora"); adapters != json.end()) read_adapters(*adapters, held);
  return *model;
}

void register_model_maker(const std::string& name, Any<Model> (*make)(const Any<Layer>&)) {
  const std::lock_guard<std::mutex> lock(makers_mutex());
  model_makers()[name] = make;
}

}  // namespace mezzo::detail
