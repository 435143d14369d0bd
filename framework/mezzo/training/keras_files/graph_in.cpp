#include <map>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/keras_files/graph_ops.hpp>
#include <mezzo/training/keras_files/keras_models.hpp>
#include <mezzo/training/keras_files/keras_operations.hpp>
#include <mezzo/training/keras_files/node_in.hpp>
#include <mezzo/training/keras_files/operation_layer.hpp>
#include <mezzo/training/model/keras_model_files.hpp>

namespace mezzo::detail {
namespace {

constexpr const char* functional_label = "[Functional]";

const Json& list_of(const Json& config, const char* name, const std::string& where) {
  const Json& list = member(config, name, where);
  if (!list.is_array()) fail<ValueError>(where, "\"{}\" must be a list; got {}", name, excerpt(list));
  return list;
}

bool is_input_layer(const Json& object) {
  const auto name = object.is_object() ? object.find("class_name") : object.end();
  return name != object.end() && *name == "InputLayer";
}

/// Shape of Keras with the batch, None as -1.
Json batch_shape_in(const Json& shape, const std::string& where) {
  if (!shape.is_array()) fail<ValueError>(where, "batch_shape must be a list; got {}", excerpt(shape));
  Json out = Json::array();
  for (const Json& size : shape) out.push_back(size.is_null() ? Json(-1) : size);
  return out;
}

/// Shape and dtype of an InputLayer; null without a shape.
Json spec_in(const Json& config, const std::string& where) {
  for (const char* flag : {"sparse", "ragged"}) {
    const auto found = config.find(flag);
    if (found != config.end() && *found == true) fail<ValueError>(where, "{} inputs can't be read", flag);
  }
  auto shape = config.find("batch_shape");
  if (shape == config.end()) shape = config.find("batch_input_shape");
  if (shape == config.end() || shape->is_null()) return nullptr;
  const auto dtype = config.find("dtype");
  Json name = "float32";
  if (dtype != config.end() && dtype->is_string()) name = *dtype;
  return {{"shape", batch_shape_in(*shape, where)}, {"dtype", name}};
}

Json input_in(const Json& object, const std::string& where) {
  const Json& config = member(object, "config", where);
  Json input = spec_in(config, where);
  if (input.is_null()) fail<ValueError>(where, "an InputLayer must have a batch_shape; got none");
  const auto name = config.find("name");
  input["name"] = name == config.end() ? Json("") : *name;
  return input;
}

/// The layer with its name in the model.
Json named_layer_in(const Json& object, const KerasPolicies& policies) {
  Json layer = keras_layer_in(object, policies);
  const auto own = object.find("name");
  const auto name = layer["config"].find("name");
  if (own != object.end()) {
    layer["name"] = *own;
  } else {
    layer["name"] = name == layer["config"].end() ? Json("") : *name;
  }
  return layer;
}

Json sequence_in(const Json& config, const KerasPolicies& policies) {
  const std::string where = "[Sequential]";
  Json layers = Json::array(), order = Json::array(), input = nullptr;
  for (const Json& object : list_of(config, "layers", where)) {
    if (is_input_layer(object)) {
      input = input_in(object, where);
      continue;
    }
    if (layers.empty() && input.is_null()) {  // Keras 2
      input = spec_in(member(object, "config", where), where);
      if (!input.is_null() && !object["config"].contains("batch_input_shape")) input = nullptr;
      if (!input.is_null()) input["name"] = "";
    }
    order.push_back(layers.size());
    layers.push_back(named_layer_in(object, policies));
  }
  const auto built = config.find("build_input_shape");
  if (input.is_null() && built != config.end() && built->is_array() && !built->empty()) {
    input = {{"shape", batch_shape_in(*built, where)}, {"dtype", "float32"}, {"name", ""}};
  }
  return {{"layers", layers}, {"order", order}, {"input", input}};
}

/// Layers and calls of a functional model.
class GraphIn {
 public:
  GraphIn(const Json& config, const KerasPolicies& policies) : config_(config), policies_(policies) {}

  Json read() {
    register_operation_layer();
    for (const Json& object : list_of(config_, "layers", functional_label)) add_layer(object);
    for (const KerasTensor& input : ends("input_layers")) add_input(input);
    std::vector<KerasTensor> outputs = ends("output_layers");
    find_first_indices(outputs);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      for (std::size_t k = 0; k < layers_[i].nodes.size(); ++k) call(i, k);
    }
    Json results = Json::array();
    for (const KerasTensor& output : outputs) results.push_back(operand_of(output));
    Json read{{"inputs", inputs_}, {"layers", read_layers_}, {"calls", calls_}, {"outputs", results}};
    if (Json names = output_names(); !names.empty()) read["output_names"] = std::move(names);
    return read;
  }

 private:
  struct LayerIn {
    std::string name, class_name;
    bool input = false, operation = false;
    bool computed = false;  ///< true for an operation that is a layer here
    bool from_one = false;  ///< true if the calls are counted from 1 on
    const Json* object = nullptr;
    std::vector<KerasNode> nodes;
    std::vector<std::optional<std::size_t>> calls;  ///< index of each node in calls_
    std::vector<bool> pending;
    std::size_t place = 0;  ///< of an input
  };

  void add_layer(const Json& object) {
    LayerIn layer;
    layer.object = &object;
    layer.class_name = read_string(member(object, "class_name", functional_label), functional_label);
    layer.input = is_input_layer(object);
    layer.operation = is_keras_operation(object);
    layer.computed = layer.operation && find_keras_operation(layer.class_name) != nullptr;
    const Json& config = member(object, "config", functional_label);
    const auto own = object.find("name");
    layer.name = read_string(own != object.end() ? *own : member(config, "name", functional_label),
                             std::string(functional_label) + " name of a layer");
    if (!names_.emplace(layer.name, layers_.size()).second) {
      fail<NameError>(functional_label, "names of layers must differ; got \"{}\" twice", printable_name(layer.name));
    }
    if (!layer.input && !layer.operation) read_layers_.push_back(named_layer_in(object, policies_));
    const std::string where = fmt::format("[{} \"{}\"]", printable_name(layer.class_name), printable_name(layer.name));
    const auto nodes = object.find("inbound_nodes");
    if (nodes != object.end() && !layer.input) {
      if (!nodes->is_array()) fail<ValueError>(where, "inbound_nodes must be a list; got {}", excerpt(*nodes));
      for (const Json& node : *nodes) {
        layer.nodes.push_back(read_node(node, class_in(layer.class_name), layer.operation, where));
      }
    }
    if (layer.computed) read_layers_.push_back(operation_layer(layer));
    layer.calls.resize(layer.nodes.size());
    layer.pending.resize(layer.nodes.size());
    layers_.push_back(std::move(layer));
  }

  /// Keras 2 counts the calls of models in models from 1 on, Keras 3 only in output_layers.
  void find_first_indices(std::vector<KerasTensor>& outputs) {
    const auto note = [&](const KerasTensor& tensor) {
      const auto found = names_.find(tensor.layer);
      if (found == names_.end()) return;
      LayerIn& layer = layers_[found->second];
      const bool model = layer.class_name == "Sequential" || class_in(layer.class_name) == "Functional";
      if (model && tensor.legacy && tensor.node == layer.nodes.size()) layer.from_one = true;
    };
    bool legacy = false;
    for (const LayerIn& layer : layers_) {
      for (const KerasNode& node : layer.nodes) {
        for (const KerasOperand& operand : node.operands) {
          if (operand.tensor) legacy = legacy || operand.tensor->legacy;
          if (operand.tensor) note(*operand.tensor);
        }
      }
    }
    for (KerasTensor& output : outputs) {
      output.legacy = legacy;
      note(output);
      const LayerIn& layer = layers_[index_of(output.layer)];
      if (!legacy && class_in(layer.class_name) == "Functional" && output.node > 0) --output.node;
    }
  }

  /// Symbols of input_layers or output_layers: one, a list, or by name.
  std::vector<KerasTensor> ends(const char* name) const {
    std::vector<KerasTensor> out;
    collect_ends(member(config_, name, functional_label), out);
    if (out.empty()) fail<ValueError>(functional_label, "{} must name a layer; got none", name);
    return out;
  }

  /// Keys of outputs in a dict, in the order of collect_ends(); none for a list and for lists in a dict.
  Json output_names() const {
    const Json& ends = member(config_, "output_layers", functional_label);
    Json names = Json::array();
    if (!ends.is_object()) return names;
    for (const auto& [name, end] : ends.items()) {
      if (!end.is_array() || end.size() != 3 || !end[0].is_string()) return Json::array();
      names.push_back(name);
    }
    return names;
  }

  static void collect_ends(const Json& json, std::vector<KerasTensor>& out) {
    const ConfigDepth depth;
    if (json.is_array() && json.size() == 3 && json[0].is_string()) {
      out.push_back(read_history(json, functional_label));
    } else if (json.is_structured()) {
      for (const Json& part : json) collect_ends(part, out);
    } else {
      fail<ValueError>(functional_label, "ends must be [layer, call, output]; got {}", excerpt(json));
    }
  }

  void add_input(const KerasTensor& input) {
    LayerIn& layer = layers_[index_of(input.layer)];
    if (!layer.input) fail<ValueError>(functional_label, "\"{}\" must be an InputLayer", printable_name(input.layer));
    layer.place = inputs_.size();
    placed_.insert(input.layer);
    inputs_.push_back(input_in(*layer.object, functional_label));
  }

  std::size_t index_of(const std::string& name) const {
    const auto found = names_.find(name);
    if (found == names_.end()) {
      fail<NameError>(functional_label, "the graph names the layer \"{}\", which the model lacks",
                      printable_name(name));
    }
    return found->second;
  }

  /// Node of a tensor; a ValueError if the layer has none of that index.
  std::size_t node_of(const LayerIn& layer, const KerasTensor& tensor) const {
    std::size_t node = tensor.node;
    if (layer.from_one && node > 0) --node;
    if (node >= layer.nodes.size()) {
      fail<ValueError>(functional_label, "the graph reads call {} of the layer \"{}\", which has {}", tensor.node,
                       printable_name(layer.name), layer.nodes.size());
    }
    return node;
  }

  Json operand_of(const KerasTensor& tensor) const {
    const LayerIn& layer = layers_[index_of(tensor.layer)];
    if (!layer.input) {
      return {{"call", *layer.calls[node_of(layer, tensor)]}, {"output", tensor.output}};
    }
    if (placed_.count(tensor.layer) == 0) {
      fail<ValueError>(functional_label, "the InputLayer \"{}\" must be one of input_layers",
                       printable_name(tensor.layer));
    }
    return {{"input", layer.place}};
  }

  /// Appends a call after the calls that it depends on. An explicit stack, since graphs may be deep.
  void call(std::size_t first_layer, std::size_t first_node) {
    std::vector<std::pair<std::size_t, std::size_t>> stack{{first_layer, first_node}};
    while (!stack.empty()) {
      const auto [index, node] = stack.back();
      LayerIn& layer = layers_[index];
      if (layer.calls[node]) {
        stack.pop_back();
        continue;
      }
      const std::size_t before = stack.size();
      for (const KerasOperand& operand : layer.nodes[node].operands) {
        if (!operand.tensor) continue;
        const std::size_t from = index_of(operand.tensor->layer);
        if (layers_[from].input) continue;
        const std::size_t needed = node_of(layers_[from], *operand.tensor);
        if (layers_[from].calls[needed]) continue;
        if (layers_[from].pending[needed]) {
          fail<ValueError>(functional_label, "the graph has a cycle through the layer \"{}\"",
                           printable_name(layers_[from].name));
        }
        stack.emplace_back(from, needed);
      }
      layer.pending[node] = true;
      if (stack.size() > before) continue;
      stack.pop_back();
      layer.calls[node] = calls_.size();
      calls_.push_back(call_of(layer, layer.nodes[node]));
    }
  }

  /// Options of an operation and of its call.
  static Json options_of_operation(const LayerIn& layer, const KerasNode& node) {
    Json options = member(*layer.object, "config", functional_label);
    for (const auto& [name, value] : node.options.items()) options[name] = value;
    return options;
  }

  /// The layer of an operation. A ValueError if calls differ in their options.
  static Json operation_layer(const LayerIn& layer) {
    Json options = layer.nodes.empty() ? Json::object() : options_of_operation(layer, layer.nodes.front());
    for (const KerasNode& node : layer.nodes) {
      if (options_of_operation(layer, node) == options) continue;
      fail<ValueError>(fmt::format("[{} \"{}\"]", layer.class_name, printable_name(layer.name)),
                       "all calls of an operation must have the same options");
    }
    options.erase("name");
    options.erase("dtype_policy");
    return {
        {"class_name", operation_layer_class},
        {"name", layer.name},
        {"config", {{"name", layer.name}, {"operation", layer.class_name}, {"options", options.dump(-1, ' ', true)}}}};
  }

  Json call_of(const LayerIn& layer, const KerasNode& node) const {
    Json inputs = Json::array();
    for (const KerasOperand& operand : node.operands) {
      inputs.push_back(operand.tensor ? operand_of(*operand.tensor) : operand.constant);
    }
    Json out;
    if (layer.operation && !layer.computed) {
      out = operation_in(layer.class_name, options_of_operation(layer, node),
                         fmt::format("[{} \"{}\"]", printable_name(layer.class_name), printable_name(layer.name)));
    } else {
      out = {{"layer", layer.name}};
      if (!node.masked.empty()) out["masked"] = node.masked;
      if (!node.arguments.is_null()) out["arguments"] = node.arguments;
    }
    out["inputs"] = inputs;
    return out;
  }

  const Json& config_;
  const KerasPolicies& policies_;
  std::vector<LayerIn> layers_;
  std::map<std::string, std::size_t> names_;
  std::set<std::string> placed_;
  Json inputs_ = Json::array(), read_layers_ = Json::array(), calls_ = Json::array();
};

void count_policies(const Json& json, std::map<std::string, int>& counts) {
  if (!json.is_structured()) return;
  if (json.is_object() && !is_input_layer(json)) {
    const auto config = json.find("config");
    const auto dtype = config != json.end() && config->is_object() ? config->find("dtype") : json.end();
    if (config != json.end() && config->is_object() && dtype != config->end()) {
      const std::string name = policy_name_in(*dtype, "[Keras file]");
      if (!name.empty()) ++counts[name];
    }
  }
  for (const Json& part : json) count_policies(part, counts);
}

}  // namespace

std::string most_frequent_policy(const Json& config) {
  std::map<std::string, int> counts;
  count_policies(config, counts);
  std::string best;
  for (const auto& [name, count] : counts) {
    if (best.empty() || count > counts[best]) best = name;
  }
  const std::size_t from = best.find("_from_");  // quantized layers have policies of their own
  return from == std::string::npos ? best : best.substr(from + 6);
}

namespace {

Json layer_or_model_in(const Json& object, const KerasPolicies& policies) {
  const std::string name = keras_class(object, "[Keras file] layer");
  const bool sequence = name == "Sequential";
  if (!sequence && name != "Functional") return plain_layer_in(object, policies);
  const Json& given = member(object, "config", "[Keras file]");
  if (!sequence && !given.contains("layers")) {
    fail<ValueError>("[Keras file]",
                     "a class of models of Python can't be read: register it in Python with a package, \"my>{}\", and "
                     "here by register_model() under the same name",
                     printable_name(name));
  }
  Json config = sequence ? sequence_in(given, policies) : GraphIn(given, policies).read();
  common_members_in(given, policies, name, fmt::format("[{}]", name), config);
  return {{"class_name", name}, {"config", config}};
}

}  // namespace

Json keras_layer_in(const Json& object, const KerasPolicies& policies) {
  const ConfigDepth depth;
  Json layer = layer_or_model_in(object, policies);
  const auto shared = object.find("shared_object_id");
  if (shared != object.end()) layer["shared"] = read_int(*shared, "[Keras file] shared_object_id");
  return layer;
}

}  // namespace mezzo::detail
