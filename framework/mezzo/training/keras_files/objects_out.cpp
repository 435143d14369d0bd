#include <mezzo/training/keras_files/objects_out.hpp>

#include <algorithm>
#include <cctype>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/quantization.hpp>
#include <mezzo/nn/layer_state.hpp>
#include <mezzo/nn/quantize_weights.hpp>
#include <mezzo/precision/quantized_form.hpp>
#include <mezzo/training/keras_files/objects_in.hpp>

namespace mezzo::detail {
namespace {

/// Members whose -1 is Keras' None.
bool has_open_sizes(const std::string& class_name, const std::string& member) {
  return member == "noise_shape" || (class_name == "EinsumDense" && member == "output_shape");
}

/// Margins of axes: pairs for several axes.
Json margins(const Json& numbers) {
  if (!numbers.is_array() || numbers.size() <= 2) return numbers;
  Json out = Json::array();
  for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) out.push_back(Json::array({numbers[i], numbers[i + 1]}));
  return out;
}

Json value_out(const std::string& class_name, const std::string& name, const Json& value, const std::string& policy) {
  if (is_unused(class_name, name, value)) return nullptr;
  const std::optional<KerasFamily> family = family_of_member(name);
  if (family == KerasFamily::layer && value.is_object()) return keras_layer_out(value, policy);
  if (family == KerasFamily::layer && value.is_array()) {
    Json list = Json::array();
    for (const Json& one : value) list.push_back(keras_layer_out(one, policy));
    return list;
  }
  if (family && value.is_object()) return object_out(*family, value);
  if (is_activation(name)) return value.is_null() ? Json("linear") : value;
  if (has_open_sizes(class_name, name) && value.is_array()) return sizes_out(value);
  switch (form_of_member(class_name, name)) {
    case MemberForm::tensor:
      return value.is_object() ? nested_numbers(value) : value;
    case MemberForm::list:
      return value.is_array() && value.size() == 1 && name != "idf_weights" ? value[0] : value;
    case MemberForm::flat:
      return margins(value);
    default:
      return value;
  }
}

Json options_out(KerasFamily family, const std::string& class_name, const Json& config, const std::string& policy) {
  const std::string where = fmt::format("[{}]", class_name);
  if (is_class_of_mezzo_alone(family, class_name)) fail<ValueError>(where, "Keras has no class of this name");
  Json out = Json::object();
  for (const auto& item : config.items()) {
    const std::string& name = item.key();
    if (family == KerasFamily::layer && (name == "name" || name == "trainable" || name == "dtype")) continue;
    if (const MezzoMember* const alone = member_of_mezzo_alone(class_name, name)) {
      if (item.value() == alone->without) continue;
      fail<ValueError>(where, "Keras has no option \"{}\"; got {}", name, excerpt(item.value()));
    }
    out[member_out(class_name, name)] = value_out(class_name, name, item.value(), policy);
  }
  if (family == KerasFamily::layer && has_data_format(class_name)) out["data_format"] = "channels_last";
  return out;
}

}  // namespace

Json nested_numbers(const Json& tensor) {
  const Json &shape = tensor.at("shape"), &values = tensor.at("value");
  if (shape.empty()) return values.at(0);
  std::vector<Json> level(values.begin(), values.end());
  for (std::size_t axis = shape.size(); axis-- > 1;) {
    const auto size = shape[axis].get<std::size_t>();
    std::vector<Json> outer;
    for (std::size_t i = 0; size > 0 && i < level.size(); i += size) {
      outer.emplace_back(std::vector<Json>(level.begin() + static_cast<std::ptrdiff_t>(i),
                                           level.begin() + static_cast<std::ptrdiff_t>(i + size)));
    }
    level = std::move(outer);
  }
  return level;
}

Json sizes_out(const Json& sizes) {
  Json out = Json::array();
  for (const Json& size : sizes) out.push_back(size == -1 ? Json() : size);
  return out;
}

Json object_with_module(KerasFamily family, const std::string& class_name, Json config) {
  const std::size_t mark = class_name.find('>');
  if (mark == std::string::npos) {
    return {{"module", keras_module(family)},
            {"class_name", class_out(class_name)},
            {"config", std::move(config)},
            {"registered_name", nullptr}};
  }
  return {{"module", "__main__"},
          {"class_name", class_name.substr(mark + 1)},
          {"config", std::move(config)},
          {"registered_name", class_name}};
}

Json object_out(KerasFamily family, const Json& object) {
  const ConfigDepth depth;
  if (!object.is_object()) return object;
  const auto name = object.at("class_name").get<std::string>();
  Json config = options_out(family, name, object.at("config"), "");
  if (family == KerasFamily::optimizer || family == KerasFamily::schedule) {
    const auto given = config.find("name");
    std::string lower = name;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    if (given == config.end() || given->is_null()) config["name"] = family == KerasFamily::optimizer ? lower : name;
  }
  if (name == "Constant" && object.at("config").contains("values") && !object.at("config").at("values").is_null()) {
    config["value"] = nested_numbers(object.at("config").at("values"));
  }
  if (family == KerasFamily::loss && name == "Crossentropy") return "crossentropy";
  if ((family == KerasFamily::loss || family == KerasFamily::metric) && config.contains("name")) {
    if (config["name"].is_null()) config["name"] = snake_case(name);
  }
  return object_with_module(family, name, std::move(config));
}

Json keras_object(const char* module, const char* class_name, Json config) {
  return {{"module", module}, {"class_name", class_name}, {"config", std::move(config)}, {"registered_name", nullptr}};
}

/// The member quantization_config of a layer in that form; null for the formats of inputs that Keras takes without it.
Json quantization_config_out(const QuantizedForm& form, const std::string& class_name) {
  const bool int8 = form.mode == QuantizationMode::int8, dynamic = form.inputs == QuantizedInputs::dynamic_int8;
  if (dynamic == (int8 || class_name == "ReversibleEmbedding")) return nullptr;
  Json inputs = nullptr;
  if (dynamic) {
    inputs = keras_object("keras.quantizers", "AbsMaxQuantizer",
                          {{"value_range", {-127, 127}}, {"epsilon", 1e-7}, {"output_dtype", "int8"}});
  }
  Json config{{"weight_quantizer", nullptr}, {"activation_quantizer", std::move(inputs)}};
  if (!int8) config["block_size"] = form.block_size;
  return keras_object("keras.quantizers", int8 ? "Int8QuantizationConfig" : "Int4QuantizationConfig",
                      std::move(config));
}

Json plain_policy(const std::string& name) { return keras_object("keras", "DTypePolicy", {{"name", name}}); }

/// Keras can't call an attention layer with a quantized policy, but one with a map for its projections.
Json policy_of_projections(const std::string& source, Json policy) {
  return keras_object(
      "keras.dtype_policies", "DTypePolicyMap",
      {{"default_policy", plain_policy(source)}, {"policy_map", {{projections_in_map, std::move(policy)}}}});
}

/// The policy float8_from_<source>. Keras can't call layers without products in float8 that have it: they get <source>.
void float8_policy_out(const std::string& source, const std::string& class_name, Json& out) {
  Json policy = keras_object(
      "keras.dtype_policies", "QuantizedFloat8DTypePolicy",
      {{"mode", "float8"}, {"source_name", source}, {"amax_history_length", DelayedScale::history_length}});
  if (has_projections(class_name)) {
    out["dtype"] = policy_of_projections(source, std::move(policy));
  } else {
    const bool has_products = class_name == "Dense" || class_name == "EinsumDense";
    out["dtype"] = has_products ? std::move(policy) : plain_policy(source);
  }
}

/// The policy of a quantized layer. Inputs that aren't Keras' default are in its quantization_config.
void quantized_policy_out(const std::string& mode, const std::string& source, const std::string& class_name,
                          Json& out) {
  const std::string where = fmt::format("[{}]", class_name);
  QuantizedForm form = quantized_form(mode, -1, where);
  if (form.mode == QuantizationMode::float8) return float8_policy_out(source, class_name, out);
  const bool gptq = form.mode == QuantizationMode::gptq;
  const bool known = form.mode == QuantizationMode::int8 || form.mode == QuantizationMode::int4 || gptq;
  if (!known || form.inputs == QuantizedInputs::static_int8) {
    fail<ValueError>(where, "Keras has no dtype policy \"{}_from_{}\"", mode, source);
  }
  Json config = quantization_config_out(form, class_name);
  const bool attention = has_projections(class_name);
  if (attention && !config.is_null()) {
    fail<ValueError>(where, "Keras has no other inputs of quantized projections; got {}", mode);
  }
  if (!config.is_null()) out["quantization_config"] = std::move(config);
  const bool int8 = form.mode == QuantizationMode::int8;
  form.inputs = int8 ? QuantizedInputs::dynamic_int8 : QuantizedInputs::floats;
  const char* const policy_class = int8 ? "QuantizedDTypePolicy" : gptq ? "GPTQDTypePolicy" : "Int4DTypePolicy";
  Json policy = keras_object("keras.dtype_policies", policy_class, {{"mode", form.name()}, {"source_name", source}});
  out["dtype"] = attention ? policy_of_projections(source, std::move(policy)) : std::move(policy);
}

void common_members_out(const Json& config, const std::string& policy, const std::string& class_name, Json& out) {
  static const auto* const policies =
      new std::set<std::string>{"float32", "float64", "float16", "bfloat16", "mixed_float16", "mixed_bfloat16"};
  if (config.contains("name") && config["name"] != "") out["name"] = config["name"];
  if (config.contains("trainable")) out["trainable"] = config["trainable"];
  std::string name = policy;
  if (config.contains("dtype") && !config["dtype"].is_null()) {
    name = config["dtype"].at("config").at("name").get<std::string>();
  }
  const std::size_t from = name.find("_from_");
  const std::string source = from == std::string::npos ? name : name.substr(from + 6);
  if (policies->count(source) == 0) {
    fail<ValueError>(fmt::format("[{}]", class_name), "Keras has no dtype policy \"{}\"", name);
  }
  if (from != std::string::npos) return quantized_policy_out(name.substr(0, from), source, class_name, out);
  out["dtype"] = plain_policy(name);
}

Json plain_layer_out(const Json& layer, const std::string& policy) {
  const ConfigDepth depth;
  const auto name = layer.at("class_name").get<std::string>();
  const Json& given = layer.at("config");
  const bool own = given.contains("dtype") && !given["dtype"].is_null();
  const std::string inner =
      own ? given["dtype"].at("config").at("name").get<std::string>() : policy;  // of layers in the layer
  Json config = options_out(KerasFamily::layer, name, given, inner);
  common_members_out(given, policy, name, config);
  if (has_no_policy(name)) config.erase("dtype");
  if (has_no_trainable(name)) config.erase("trainable");
  return object_with_module(KerasFamily::layer, name, std::move(config));
}

}  // namespace mezzo::detail
