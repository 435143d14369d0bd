#include <map>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/layer_state.hpp>
#include <mezzo/training/keras_files/graph_ops.hpp>
#include <mezzo/training/keras_files/keras_operations.hpp>
#include <mezzo/training/keras_files/objects_out.hpp>
#include <mezzo/training/model/keras_model_files.hpp>

namespace mezzo::detail {
namespace {

bool is_class_among(const std::string& name, std::initializer_list<const char*> names) {
  for (const char* one : names) {
    if (name == one) return true;
  }
  return false;
}

Json input_layer_out(const Json& spec, const std::string& name) {
  return {{"module", "keras.layers"},
          {"class_name", "InputLayer"},
          {"config",
           {{"batch_shape", sizes_out(spec.at("shape"))},
            {"dtype", spec.at("dtype")},
            {"sparse", false},
            {"ragged", false},
            {"name", name}}},
          {"registered_name", nullptr}};
}

/// The layer of a model, with its name there.
Json named_layer_out(const Json& layer, const std::string& policy) {
  Json out = keras_layer_out(layer, policy);
  out["config"]["name"] = layer.at("name");
  return out;
}

Json sequence_out(const Json& config, const std::string& policy) {
  const std::string where = "[Sequential]";
  Json layers = Json::array();
  if (!config.at("input").is_null()) {
    const auto name = config["input"].value("name", std::string());
    layers.push_back(input_layer_out(config["input"], name.empty() ? "input_layer" : name));
  }
  std::set<std::size_t> seen;
  for (const Json& place : config.at("order")) {
    const auto index = place.get<std::size_t>();
    if (!seen.insert(index).second) {
      fail<ValueError>(where, "Keras' Sequential can't have the layer \"{}\" twice",
                       config["layers"][index].at("name").get<std::string>());
    }
    layers.push_back(named_layer_out(config["layers"][index], policy));
  }
  Json out{{"layers", layers}};
  if (!config["input"].is_null()) out["build_input_shape"] = sizes_out(config["input"]["shape"]);
  return out;
}

/// Layers of a functional model with their calls.
class GraphOut {
 public:
  GraphOut(const Json& config, const std::string& policy) : config_(config), policy_(policy) {}

  Json write() {
    for (const Json& layer : config_.at("layers")) taken_.insert(layer.at("name").get<std::string>());
    Json inputs = Json::array();
    for (const Json& spec : config_.at("inputs")) add_input(spec, inputs);
    for (const Json& layer : config_.at("layers")) {
      const bool operation = layer.at("class_name") == operation_layer_class;
      Json out = operation ? operation_layer_out(layer) : named_layer_out(layer, policy_);
      out["name"] = layer.at("name");
      out["inbound_nodes"] = Json::array();
      models_.push_back(layer.at("class_name") == "Functional");
      places_[layer.at("name").get<std::string>()] = layers_.size();
      layers_.push_back(std::move(out));
    }
    for (const Json& call : config_.at("calls")) add_call(call);
    return {{"layers", layers_},
            {"input_layers", inputs.size() == 1 ? inputs[0] : inputs},
            {"output_layers", output_layers()}};
  }

 private:
  /// Ends of the outputs: one, a list, or a dict by their names.
  Json output_layers() const {
    const Json names = config_.value("output_names", Json::array());
    Json outputs = Json::array(), named = Json::object();
    for (const Json& output : config_.at("outputs")) {
      if (!names.empty()) named[names.at(outputs.size()).get<std::string>()] = end_of(output);
      outputs.push_back(end_of(output));
    }
    if (!names.empty()) return named;
    return outputs.size() == 1 ? outputs[0] : outputs;
  }

  /// A name that no other layer or op has.
  std::string unique_name(const std::string& wanted) {
    std::string name = wanted;
    for (int i = 1; !taken_.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
    return name;
  }

  void add_input(const Json& spec, Json& inputs) {
    const std::string given = spec.value("name", std::string());
    const std::string name = unique_name(given.empty() ? "input_layer" : given);
    if (!given.empty() && name != given) {
      fail<NameError>("[Functional]", "Keras needs different names of inputs and layers; got \"{}\" twice", given);
    }
    Json layer = input_layer_out(spec, name);
    layer["name"] = name;
    layer["inbound_nodes"] = Json::array();
    layers_.push_back(std::move(layer));
    models_.push_back(false);
    inputs.push_back(Json::array({name, 0, 0}));
    inputs_.push_back(name);
  }

  Json history_of(const Json& operand) const {
    if (operand.contains("input")) return Json::array({inputs_.at(operand["input"].get<std::size_t>()), 0, 0});
    const auto& [layer, node] = calls_.at(operand.at("call").get<std::size_t>());
    return Json::array({layers_[layer].at("name"), node, operand.at("output")});
  }

  Json end_of(const Json& operand) const {
    Json history = history_of(operand);
    if (operand.contains("call")) {
      const auto& [layer, node] = calls_.at(operand["call"].get<std::size_t>());
      if (models_[layer]) history[1] = node + 1;  // Keras counts calls of a model in a model from 1 on, here only
    }
    return history;
  }

  Json operand_out(const Json& operand) const {
    if (operand.contains("number")) {
      if (operand.at("integer") == true) return static_cast<std::int64_t>(operand["number"].get<double>());
      return operand["number"].get<double>();
    }
    if (operand.contains("constant")) {
      const Json& array = operand["constant"];
      return {{"class_name", "__numpy__"},
              {"config", {{"value", nested_numbers(array)}, {"dtype", array.at("dtype")}}}};
    }
    return {
        {"class_name", "__keras_tensor__"},
        {"config", {{"shape", Json::array({nullptr})}, {"dtype", "float32"}, {"keras_history", history_of(operand)}}}};
  }

  void add_call(const Json& call) {
    Json operands = Json::array();
    for (const Json& operand : call.at("inputs")) operands.push_back(operand_out(operand));
    if (!call.contains("layer")) return add_op(call, operands);
    const std::size_t place = places_.at(call["layer"].get<std::string>());
    const Json& called = layers_[place];
    const auto class_name = called.at("class_name").get<std::string>();
    Json node =
        is_keras_operation(called) ? operation_node_out(called, operands) : node_out(class_name, call, operands);
    Json& nodes = layers_[place]["inbound_nodes"];
    calls_.emplace_back(place, nodes.size());
    nodes.push_back(std::move(node));
  }

  void add_op(const Json& call, const Json& operands) {
    const std::string name = unique_name(call.at("op").get<std::string>());
    Json layer = operation_out(call, name, "[Functional]");
    layer["name"] = name;
    const bool list = call["op"] == "concat";
    Json args = list ? Json::array({operands}) : operands;
    if (call["op"] == "slice") args.push_back(key_of_slice(call.at("attributes")));
    layer["inbound_nodes"] = Json::array({{{"args", args}, {"kwargs", Json::object()}}});
    calls_.emplace_back(layers_.size(), 0);
    layers_.push_back(std::move(layer));
    models_.push_back(false);
  }

  /// The operation of a layer that stands for it. Its key is an argument of the call.
  Json operation_layer_out(const Json& layer) {
    const Json& config = layer.at("config");
    const auto name = config.at("operation").get<std::string>();
    const KerasOperation* const operation = find_keras_operation(name);
    Json options = Json::parse(config.at("options").get<std::string>());
    options["name"] = layer.at("name");
    if (const auto key = options.find("key"); key != options.end()) {
      keys_[layer.at("name").get<std::string>()] = *key;
      options.erase(key);
    }
    return {{"module", fmt::format("keras.src.ops.{}", operation == nullptr ? "numpy" : operation->module)},
            {"class_name", name},
            {"config", std::move(options)},
            {"registered_name", name}};
  }

  Json operation_node_out(const Json& operation, const Json& operands) const {
    const KerasOperation* const known = find_keras_operation(operation.at("class_name").get<std::string>());
    Json args = known != nullptr && known->list ? Json::array({operands}) : operands;
    const auto key = keys_.find(operation.at("name").get<std::string>());
    if (key != keys_.end()) args.push_back(key->second);
    return {{"args", args}, {"kwargs", Json::object()}};
  }

  /// Arguments of Keras' call.
  static Json node_out(const std::string& class_name, const Json& call, const Json& operands) {
    const Json masked = call.value("masked", Json::array());
    const std::size_t count = operands.size() - masked.size();
    Json kwargs = Json::object();
    if (call.contains("training")) kwargs["training"] = call["training"];
    Json args = Json::array(), inputs(std::vector<Json>(operands.begin(), operands.begin() + static_cast<int>(count)));
    if (is_class_among(class_name, {"MultiHeadAttention", "GroupQueryAttention"})) {
      args = {inputs.at(0), inputs.at(1)};
      if (count > 2) kwargs["key"] = inputs[2];
      if (count > 3) kwargs["attention_mask"] = inputs[3];
    } else if (is_class_among(class_name, {"RNN", "LSTM", "GRU", "SimpleRNN", "Bidirectional", "ConvLSTM1D",
                                           "ConvLSTM2D", "ConvLSTM3D"}) &&
               count > 1) {
      args = Json::array({inputs[0]});
      kwargs["initial_state"] = std::vector<Json>(inputs.begin() + 1, inputs.end());
    } else {
      args.push_back(count == 1 ? inputs[0] : inputs);
    }
    add_masks(class_name, masked, operands, count, kwargs);
    const Json arguments = call.value("arguments", Json::object());
    for (const auto& item : arguments.items()) {
      if (item.value() != false) kwargs[item.key()] = item.value();
    }
    return {{"args", args}, {"kwargs", kwargs}};
  }

  static void add_masks(const std::string& class_name, const Json& masked, const Json& operands, std::size_t count,
                        Json& kwargs) {
    if (masked.empty()) return;
    static constexpr const char* names[] = {"query_mask", "value_mask", "key_mask"};
    const bool heads = is_class_among(class_name, {"MultiHeadAttention", "GroupQueryAttention"});
    Json list(std::vector<Json>(count, nullptr));
    for (std::size_t i = 0; i < masked.size(); ++i) {
      const auto input = masked[i].get<std::size_t>();
      if (heads && input < 3) kwargs[names[input]] = operands[count + i];
      list.at(input) = operands[count + i];
    }
    if (!heads) kwargs["mask"] = count == 1 ? list[0] : list;
  }

  const Json& config_;
  const std::string& policy_;
  Json layers_ = Json::array();
  std::vector<bool> models_;
  std::vector<std::string> inputs_;
  std::set<std::string> taken_;
  std::map<std::string, std::size_t> places_;
  std::map<std::string, Json> keys_;                        ///< of x[key], by the name of the operation
  std::vector<std::pair<std::size_t, std::size_t>> calls_;  ///< layer and node of each call
};

}  // namespace

namespace {

Json layer_or_model_out(const Json& layer, const std::string& policy) {
  const auto name = layer.at("class_name").get<std::string>();
  if (name != "Sequential" && name != "Functional") return plain_layer_out(layer, policy);
  const Json& given = layer.at("config");
  const bool own = given.contains("dtype") && !given["dtype"].is_null();
  const std::string inner = own ? given["dtype"].at("config").at("name").get<std::string>() : policy;
  Json config = name == "Sequential" ? sequence_out(given, inner) : GraphOut(given, inner).write();
  common_members_out(given, policy, name, config);
  if (!config.contains("name")) config["name"] = name == "Sequential" ? "sequential" : "functional";
  if (name == "Functional") config.erase("dtype");
  return {{"module", name == "Sequential" ? "keras" : "keras.src.models.functional"},
          {"class_name", name},
          {"config", std::move(config)},
          {"registered_name", name == "Sequential" ? Json() : Json(name)}};
}

}  // namespace

Json keras_layer_out(const Json& layer, const std::string& policy) {
  const ConfigDepth depth;
  if (layer.contains("shared")) {
    fail<ValueError>("",
                     "Keras can't open files of models that share a layer, here the {} \"{}\", with a model inside "
                     "them: save it as .mezzo",
                     layer.at("class_name").get<std::string>(), layer.at("config").value("name", std::string()));
  }
  return layer_or_model_out(layer, policy);
}

}  // namespace mezzo::detail
