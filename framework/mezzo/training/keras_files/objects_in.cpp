#include <mezzo/training/keras_files/objects_in.hpp>

#include <algorithm>
#include <cctype>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/quantization.hpp>
#include <mezzo/training/keras_files/keras_models.hpp>

namespace mezzo::detail {
namespace {

bool is_object_of(const Json& value, const char* class_name) {
  if (!value.is_object()) return false;
  const auto found = value.find("class_name");
  return found != value.end() && *found == class_name;
}

/// Members that a saved class reads.
template <class Base>
std::set<std::string> members_of(const SavedClass<Base>& entry) {
  Json none = Json::object();
  FieldsContent content{&none, false, "[members]"};
  Fields fields(content);
  try {
    entry.make(fields, "", Policy());
  } catch (const Error&) {
    return content.known;  // some options are required
  }
  return content.known;
}

void flatten(const Json& value, Json& out) {
  if (!value.is_array()) {
    out.push_back(value);
    return;
  }
  for (const Json& item : value) flatten(item, out);
}

/// Number of None as -1, tuples as lists.
Json plain_value(const Json& value, const std::string& where) {
  const ConfigDepth depth;
  if (is_object_of(value, "__tuple__") || is_object_of(value, "__numpy__") || is_object_of(value, "__tensor__")) {
    return plain_value(member(member(value, "config", where), "value", where), where);
  }
  if (value.is_object()) fail<ValueError>(where, "must be a number, a text or a list; got {}", excerpt(value));
  if (!value.is_array()) return value;
  Json out = Json::array();
  for (const Json& item : value) out.push_back(item.is_null() ? Json(-1) : plain_value(item, where));
  return out;
}

/// Name of an activation.
Json activation_in(const Json& value, const std::string& where) {
  if (value.is_null()) return "linear";
  if (value.is_string()) return value;
  const std::string name = keras_class(value, where);
  if (name != "function") {
    fail<ValueError>(where, "must be the name of an activation; got an object of the class \"{}\"",
                     printable_name(name));
  }
  return member(value, "config", where);
}

/// Value of an option in mezzo's form; a discarded value if the default holds.
Json value_in(const std::string& class_name, const std::string& name, const Json& value, const std::string& where) {
  const Json absent(Json::value_t::discarded);
  if (is_activation(name)) return activation_in(value, where);
  if (value.is_null()) {
    if (name == "weight_decay") return 0.0;
    if (name == "merge_mode") return "none";
    return form_of_member(class_name, name) == MemberForm::list && name == "axis" ? Json::array() : absent;
  }
  const std::optional<KerasFamily> family = family_of_member(name);
  if (family == KerasFamily::layer) {
    if (!value.is_array()) return keras_layer_in(value, KerasPolicies{});
    Json list = Json::array();
    for (const Json& one : value) list.push_back(keras_layer_in(one, KerasPolicies{}));
    return list;
  }
  if (family && !(value.is_number() && *family == KerasFamily::schedule)) return object_in(*family, value, where);
  switch (form_of_member(class_name, name)) {
    case MemberForm::tensor:
      return tensor_in(value, where);
    case MemberForm::list: {
      const Json plain = plain_value(value, where);
      if (!plain.is_array()) return Json::array({plain});
      const bool symmetric = class_name == "RandomShear" && plain.size() == 2 && plain[0].is_number() &&
                             plain[1].is_number() && plain[0].get<double>() == -plain[1].get<double>();
      return symmetric && name != "fill_value" ? Json::array({plain[1]}) : plain;
    }
    case MemberForm::number: {
      const Json plain = plain_value(value, where);
      return plain.is_array() && plain.size() == 1 ? plain[0] : plain;
    }
    case MemberForm::flat: {
      Json list = Json::array();
      flatten(plain_value(value, where), list);
      return list;
    }
    case MemberForm::same:
      break;
  }
  return plain_value(value, where);
}

/// Options of an object. Members that mezzo lacks must have a value without effect.
template <class Base>
Json options_in(const std::string& class_name, const Json& config, const std::set<std::string>& left_out,
                const std::string& where) {
  const SavedClass<Base>* const entry = find_class<Base>(class_name);
  if (entry == nullptr) return Json::object();  // the reader reports the class
  const std::set<std::string> known = members_of(*entry);
  Json out = Json::object();
  for (const auto& item : config.items()) {
    if (left_out.count(item.key()) != 0) continue;
    const std::string name = member_in(class_name, item.key());
    const std::string what = fmt::format("{} {}", where, printable_name(item.key()));
    if (known.count(name) != 0) {
      Json value = value_in(class_name, name, item.value(), what);
      if (!value.is_discarded()) out[name] = std::move(value);
    } else if (!has_no_effect(item.key(), item.value())) {
      fail<ValueError>(what, "must have the value without effect, since mezzo lacks this option; got {}",
                       excerpt(item.value()));
    }
  }
  return out;
}

Json options_of(KerasFamily family, const std::string& name, const Json& config, const std::string& where) {
  switch (family) {
    case KerasFamily::layer:
      return options_in<Layer>(name, config, {"name", "trainable", "dtype", "batch_input_shape", "batch_shape"}, where);
    case KerasFamily::initializer:
      return options_in<Initializer>(name, config, {}, where);
    case KerasFamily::regularizer:
      return options_in<Regularizer>(name, config, {}, where);
    case KerasFamily::constraint:
      return options_in<Constraint>(name, config, {}, where);
    case KerasFamily::loss:
      return options_in<Loss>(name, config, {"dtype"}, where);
    case KerasFamily::metric:
      return options_in<Metric>(name, config, {"dtype"}, where);
    case KerasFamily::optimizer:
      return options_in<Optimizer>(name, config, {"name"}, where);
    case KerasFamily::schedule:
      break;
  }
  return options_in<Schedule>(name, config, {"name"}, where);
}

/// Class of the function that a loss or metric of Keras wraps: "mean_squared_error" -> "MeanSquaredError".
std::string wrapped_function(const Json& config, const std::string& where) {
  const Json& function = member(config, "fn", where);
  const Json name =
      function.is_object() && keras_class(function, where) == "function" ? member(function, "config", where) : function;
  std::string out;
  bool upper = true;
  for (const char c : read_string(name, where + " fn")) {
    if (c != '_') out += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = c == '_';
  }
  return out;
}

/// A Constant has an array in a member of its own.
void read_constant(Json& config, const std::string& where) {
  const auto value = config.find("value");
  if (value == config.end() || !value->is_array()) return;
  config["values"] = tensor_in(*value, where);
  config.erase("value");
}

}  // namespace

std::string printable_name(const Json& name) {
  std::string text = name.is_string() ? name.get<std::string>() : excerpt(name);
  if (text.size() > 80) text.resize(80);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

std::string keras_class(const Json& object, const std::string& where) {
  const std::string name = read_string(member(object, "class_name", where), where + " class_name");
  if (name == "__lambda__") fail<ValueError>(where, "a lambda of Python can't be read: no code of a file is run");
  const auto registered = object.find("registered_name");
  if (registered != object.end() && registered->is_string()) {
    const auto full = registered->get<std::string>();
    if (full.find('>') != std::string::npos) return full;
  }
  const auto module = object.find("module");
  const bool named = module != object.end() && module->is_string();
  const std::string package = named ? module->get<std::string>() : "keras";
  if (package.rfind("keras", 0) != 0 && package.rfind("tf_keras", 0) != 0) {
    fail<ValueError>(where,
                     "\"{}\" of the Python module \"{}\" is unknown: register it in Python with a package, "
                     "\"my>{}\", and here by register_class() under the same name, or by register_model() for a model",
                     printable_name(name == "function" ? member(object, "config", where) : Json(name)),
                     printable_name(*module), printable_name(name));
  }
  return class_in(name);
}

Json object_in(KerasFamily family, const Json& object, const std::string& where) {
  const ConfigDepth depth;
  if (object.is_null() || object.is_string()) return object;
  std::string name = keras_class(object, where);
  if (name == "function") return member(object, "config", where);
  ObjectParts parts = read_parts(object, where);
  const std::string custom = "Custom>";  // of the optimizers of tf.keras too
  if (family == KerasFamily::optimizer && name.rfind(custom, 0) == 0 && find_class<Optimizer>(name) == nullptr) {
    name.erase(0, custom.size());
  }
  if (name == "MeanMetricWrapper" || name == "LossFunctionWrapper") {
    name = wrapped_function(parts.config, where);
    parts.config.erase("fn");
  }
  Json config = options_of(family, name, parts.config, fmt::format("[{}]", printable_name(name)));
  if (name == "Constant") {
    const auto value = parts.config.find("value");
    if (value != parts.config.end()) config["value"] = plain_value(*value, where);
    read_constant(config, where);
  }
  const auto reduction = config.find("reduction");
  if (reduction != config.end() && *reduction == "auto") *reduction = "sum_over_batch_size";  // Keras 2
  return {{"class_name", name}, {"config", config}};
}

Json tensor_in(const Json& value, const std::string& where) {
  Json plain = plain_value(value, where), flat = Json::array(), shape = Json::array();
  flatten(plain, flat);
  for (const Json* part = &plain; part->is_array(); part = &part->front()) {
    shape.push_back(part->size());
    if (part->empty()) break;
  }
  return {{"dtype", "float32"}, {"shape", shape}, {"value", flat}};
}

namespace {

std::string float8_policy_in(const Json& config, const std::string& where) {
  const auto length = config.find("amax_history_length");
  if (length != config.end() && *length != DelayedScale::history_length) {
    fail<ValueError>(where, "amax_history_length of a float8 policy must be {}; got {}", DelayedScale::history_length,
                     excerpt(*length));
  }
  return fmt::format("float8_from_{}", read_string(member(config, "source_name", where), where));
}

/// Policy of an attention layer whose projections alone have entries of a DTypePolicyMap.
std::string policy_of_map(const Json& config, const std::string& where) {
  const Json& map = member(config, "policy_map", where);
  if (!map.is_object() || map.size() != 1 || map.begin().key() != projections_in_map) {
    fail<ValueError>(where, "dtype must be a DTypePolicy, or a DTypePolicyMap with \"{}\" alone; got {}",
                     projections_in_map, excerpt(map));
  }
  return policy_name_in(map.begin().value(), where);
}

}  // namespace

std::string policy_name_in(const Json& dtype, const std::string& where) {
  static const auto* const no_policies = new std::set<std::string>{"int8",   "int16",  "int32",  "int64", "uint8",
                                                                   "uint16", "uint32", "uint64", "bool",  "string"};
  if (dtype.is_null()) return "";
  std::string name;
  if (dtype.is_string()) {
    name = dtype.get<std::string>();
  } else {
    const ObjectParts parts = read_parts(dtype, "dtype policy");
    if (parts.class_name == "QuantizedDTypePolicy" || parts.class_name == "Int4DTypePolicy" ||
        parts.class_name == "GPTQDTypePolicy") {
      return fmt::format("{}_from_{}", read_string(member(parts.config, "mode", where), where),
                         read_string(member(parts.config, "source_name", where), where));
    }
    if (parts.class_name == "QuantizedFloat8DTypePolicy") return float8_policy_in(parts.config, where);
    if (parts.class_name == "DTypePolicyMap") return policy_of_map(parts.config, where);
    if (parts.class_name != "DTypePolicy" && parts.class_name != "Policy" && parts.class_name != "FloatDTypePolicy") {
      fail<ValueError>(where, "dtype must be a DTypePolicy; got \"{}\"", printable_name(parts.class_name));
    }
    name = read_string(member(parts.config, "name", where + " dtype"), where + " dtype");
  }
  if (no_policies->count(name) != 0) return "";
  return name;
}

namespace {

/// Policy of a quantized layer with the format of its inputs, where that isn't the one of the policy's name.
std::string with_inputs(const std::string& policy, const Json& config, const std::string& class_name,
                        const std::string& where) {
  const std::size_t from = policy.find("_from_");
  const bool int8 = policy.rfind("int8_from_", 0) == 0;
  if (from == std::string::npos || (!int8 && policy.rfind("int4", 0) != 0)) return policy;
  bool dynamic = int8 || class_name == "ReversibleEmbedding";
  const auto quantized = config.find("quantization_config");
  if (quantized != config.end() && !quantized->is_null()) {
    const Json& quantizers = member(*quantized, "config", where);
    const auto inputs = quantizers.find("activation_quantizer");
    if (inputs != quantizers.end()) dynamic = !inputs->is_null();
  }
  return dynamic == int8 ? policy : policy.substr(0, from) + (dynamic ? "/dynamic" : "/none") + policy.substr(from);
}

}  // namespace

void common_members_in(const Json& config, const KerasPolicies& policies, const std::string& class_name,
                       const std::string& where, Json& out) {
  if (const auto name = config.find("name"); name != config.end()) out["name"] = *name;
  if (const auto trainable = config.find("trainable"); trainable != config.end()) {
    if (!trainable->is_null()) out["trainable"] = *trainable;
  }
  const auto dtype = config.find("dtype");
  if (dtype == config.end()) return;
  const std::string policy = with_inputs(policy_name_in(*dtype, where), config, class_name, where);
  if (!policy.empty() && policy != policies.of_model && !policies.of_model.empty()) out["dtype"] = policy;
}

Json plain_layer_in(const Json& object, const KerasPolicies& policies) {
  const ConfigDepth depth;
  const std::string name = keras_class(object, "[Keras file] layer");
  const ObjectParts parts = read_parts(object, "layer");
  const auto given = parts.config.find("name");
  const std::string where = given == parts.config.end()
                                ? fmt::format("[{}]", printable_name(name))
                                : fmt::format("[{} \"{}\"]", printable_name(name), printable_name(*given));
  if (name == "Lambda") {
    fail<ValueError>(where, "a Lambda with a function of Python can't be read: no code of a file is run");
  }
  Json config = options_of(KerasFamily::layer, name, parts.config, where);
  common_members_in(parts.config, policies, name, where, config);
  return {{"class_name", name}, {"config", config}};
}

}  // namespace mezzo::detail
