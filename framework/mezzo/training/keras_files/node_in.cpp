#include <mezzo/training/keras_files/node_in.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/quantize_weights.hpp>
#include <mezzo/training/keras_files/objects_in.hpp>

namespace mezzo::detail {
namespace {

constexpr std::size_t max_outputs = 65536;

bool is_attention(const std::string& class_name) { return class_name.find("Attention") != std::string::npos; }

bool is_tensor(const Json& json) {
  const auto name = json.is_object() ? json.find("class_name") : json.end();
  return name != json.end() && *name == "__keras_tensor__";
}

/// True for [2, 0], an array of an operation.
bool is_list_of_numbers(const Json& arg) {
  return arg.is_array() && !arg.empty() &&
         std::all_of(arg.begin(), arg.end(), [](const Json& one) { return one.is_number(); });
}

/// Reads the arguments of one call.
class NodeReader {
 public:
  NodeReader(const std::string& class_name, bool operation, std::string where)
      : class_name_(class_name), operation_(operation), where_(std::move(where)) {}

  KerasNode read(const Json& json) {
    const Json& args = member(json, "args", where_);
    if (!args.is_array()) fail<ValueError>(where_, "args must be a list; got {}", excerpt(args));
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (i == 1 && is_item()) {
        node_.options["key"] = args[i];
      } else {
        add(args[i]);
      }
    }
    const auto kwargs = json.find("kwargs");
    if (kwargs != json.end()) read_kwargs(*kwargs);
    finish();
    return std::move(node_);
  }

  KerasNode read_legacy(const Json& list) {
    legacy_ = true;
    Json kwargs = Json::object();
    for (const Json& item : list) {
      if (!item.is_array() || item.size() < 3 || item.size() > 4) {
        fail<ValueError>(where_, "inputs must be [layer, call, output, arguments]; got {}", excerpt(item));
      }
      const KerasTensor tensor = legacy_tensor(Json::array({item[0], item[1], item[2]}));
      node_.operands.push_back({.tensor = tensor, .constant = {}});
      if (item.size() == 4 && item[3].is_object()) kwargs.update(item[3]);
    }
    read_kwargs(kwargs);
    finish();
    return std::move(node_);
  }

 private:
  /// True for x[key], whose key is an option.
  bool is_item() const { return operation_ && class_name_ == "GetItem"; }

  void add(const Json& arg) {
    const ConfigDepth depth;
    if (is_tensor(arg)) {
      node_.operands.push_back({.tensor = tensor_of(arg), .constant = {}});
    } else if (legacy_ && arg.is_array() && arg.size() == 3 && arg[0].is_string()) {
      node_.operands.push_back({.tensor = legacy_tensor(arg), .constant = {}});
    } else if (operation_ && is_list_of_numbers(arg)) {
      Json constant = tensor_in(arg, where_);
      if (std::all_of(arg.begin(), arg.end(), [](const Json& one) { return one.is_number_integer(); })) {
        constant["dtype"] = "int32";
      }
      node_.operands.push_back({.tensor = {}, .constant = {{"constant", constant}}});
    } else if (arg.is_array()) {
      for (const Json& item : arg) add(item);
    } else if (arg.is_number() && operation_) {
      node_.operands.push_back({.tensor = {}, .constant = {{"number", arg}, {"integer", arg.is_number_integer()}}});
    } else if (arg.is_object() && arg.contains("class_name") &&
               (arg["class_name"] == "__tensor__" || arg["class_name"] == "__numpy__")) {
      Json constant = tensor_in(arg, where_);
      const Json& config = member(arg, "config", where_);
      const bool integers = config.contains("dtype") && (config["dtype"] == "int32" || config["dtype"] == "int64");
      if (operation_ && integers) constant["dtype"] = config["dtype"];
      node_.operands.push_back({.tensor = {}, .constant = {{"constant", constant}}});
    } else if (!arg.is_null()) {
      fail<ValueError>(where_, "an argument of a call must be a symbol or an array; got {}", excerpt(arg));
    }
  }

  KerasTensor legacy_tensor(const Json& history) const {
    KerasTensor tensor = read_history(history, where_);
    tensor.legacy = true;
    return tensor;
  }

  KerasTensor tensor_of(const Json& arg) const {
    return read_history(member(member(arg, "config", where_), "keras_history", where_), where_);
  }

  void add_mask(const Json& mask, std::size_t input) {
    if (mask.is_null()) return;
    if (!is_tensor(mask)) fail<ValueError>(where_, "a mask must be a symbol; got {}", excerpt(mask));
    node_.masked.push_back(static_cast<std::int64_t>(input));
    masks_.push_back({.tensor = tensor_of(mask), .constant = {}});
  }

  void read_kwargs(const Json& kwargs) {
    if (!kwargs.is_object()) fail<ValueError>(where_, "kwargs must be an object; got {}", excerpt(kwargs));
    for (const char* const first : operand_names) {
      const auto found = kwargs.find(first);
      if (found == kwargs.end()) continue;
      const std::string name = first;
      if (name == "attention_mask") {
        attention_mask_ = *found;
      } else if (name == "key" && is_item()) {
        node_.options["key"] = *found;
      } else if (!found->is_null()) {
        add(*found);
      }
    }
    for (const auto& item : kwargs.items()) read_kwarg(item.key(), item.value());
  }

  void read_kwarg(const std::string& name, const Json& value) {
    const bool is_operand =
        std::find(std::begin(operand_names), std::end(operand_names), name) != std::end(operand_names);
    if (is_operand || value.is_null()) return;
    if (name == "training") {
      read_bool(value, where_ + " training");  // Keras replaces it by the mode of fit, evaluate or predict
    } else if (name == "mask") {
      if (!value.is_array()) return add_mask(value, 0);
      for (std::size_t i = 0; i < value.size(); ++i) add_mask(value[i], i);
    } else if (name == "query_mask" || name == "value_mask" || name == "key_mask") {
      add_mask(value, name == "query_mask" ? 0 : name == "value_mask" ? 1 : 2);
    } else if (name == "initial_state") {
      add(value);
    } else if (name == "use_causal_mask" || name == "return_attention_scores") {
      (name == "use_causal_mask" ? causal_ : scores_) = read_bool(value, where_ + " " + name);
    } else if (name == "reverse" && value.is_boolean()) {
      if (value == true) node_.arguments = {{"reverse", true}};
    } else if (operation_ && !is_tensor(value)) {
      node_.options[name] = value;
    } else if (value != false) {
      fail<ValueError>(where_, "a call has the argument \"{}\", which mezzo's layer lacks; got {}",
                       printable_name(name), excerpt(value));
    }
  }

  void finish() {
    const bool heads = has_projections(class_name_);
    if (is_attention(class_name_)) {
      node_.arguments = {{"use_causal_mask", causal_}, {"return_attention_scores", scores_}};
    }
    if (heads && node_.operands.size() == 2) node_.operands.push_back(node_.operands[1]);
    if (!attention_mask_.is_null()) {
      if (!is_tensor(attention_mask_)) {
        fail<ValueError>(where_, "attention_mask must be a symbol; got {}", excerpt(attention_mask_));
      }
      node_.operands.push_back({.tensor = tensor_of(attention_mask_), .constant = {}});
    }
    for (const std::int64_t input : node_.masked) {
      if (static_cast<std::size_t>(input) >= node_.operands.size()) {
        fail<ValueError>(where_, "a call must have an input for each mask; got mask {}", input);
      }
    }
    node_.operands.insert(node_.operands.end(), masks_.begin(), masks_.end());
    if (node_.operands.empty()) fail<ValueError>(where_, "a call must have an input; got none");
  }

  /// Arguments that are operands, in the order of calls.
  static constexpr const char* operand_names[] = {"query", "condition", "x",     "inputs", "x1",
                                                  "x2",    "indices",   "value", "key",    "attention_mask"};

  const std::string& class_name_;
  bool operation_;
  std::string where_;
  KerasNode node_;
  std::vector<KerasOperand> masks_;
  Json attention_mask_;
  bool causal_ = false, scores_ = false, legacy_ = false;
};

}  // namespace

KerasTensor read_history(const Json& json, const std::string& where) {
  if (!json.is_array() || json.size() != 3) {
    fail<ValueError>(where, "a symbol must be [layer, call, output]; got {}", excerpt(json));
  }
  const std::int64_t node = read_int(json[1], where + " call"), output = read_int(json[2], where + " output");
  if (node < 0 || output < 0 || output > static_cast<std::int64_t>(max_outputs)) {
    fail<ValueError>(where, "indices of calls and outputs must be 0 or more; got {}", excerpt(json));
  }
  return {.layer = read_string(json[0], where + " layer"),
          .node = static_cast<std::size_t>(node),
          .output = static_cast<int>(output)};
}

KerasNode read_node(const Json& node, const std::string& class_name, bool operation, const std::string& where) {
  NodeReader reader(class_name, operation, where);
  return node.is_array() ? reader.read_legacy(node) : reader.read(node);
}

}  // namespace mezzo::detail
