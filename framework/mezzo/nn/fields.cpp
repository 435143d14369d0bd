#include <mezzo/nn/fields.hpp>

#include <cmath>
#include <limits>
#include <set>
#include <type_traits>

#include <mezzo/core/execution_context.hpp>
#include <mezzo/nn/config_json.hpp>

namespace mezzo {
namespace detail {
namespace {

struct ConfigContext {
  int depth = 0;
};

int& depth() { return ExecutionContext::current().part<ConfigContext>().depth; }

template <class T, class One>
std::vector<T> read_list(const Json& json, const std::string& what, const One& one) {
  if (!json.is_array()) fail<ValueError>(what, "must be a list; got {}", excerpt(json));
  std::vector<T> out;
  for (const Json& item : json) out.push_back(one(item, what));
  return out;
}

}  // namespace

LayerConfigs& layer_configs() {
  static LayerConfigs configs;
  return configs;
}

ConfigDepth::ConfigDepth() {
  if (++depth() <= max_config_depth) return;
  --depth();
  fail<ValueError>("[config]", "objects must be nested at most {} deep; got more", max_config_depth);
}
ConfigDepth::~ConfigDepth() { --depth(); }

Json parse_config(const std::string& text, const std::string& where) {
  if (text.size() > max_config_bytes) {
    fail<ValueError>(where, "the config must have at most {} bytes; got {}", max_config_bytes, text.size());
  }
  const auto check_depth = [&](int nesting, Json::parse_event_t, Json&) {
    if (nesting > max_json_depth) fail<ValueError>(where, "the config must be nested at most {} deep", max_json_depth);
    return true;
  };
  Json json = Json::parse(text, check_depth, false);
  if (!json.is_object()) {
    fail<ValueError>(where, "the config must be a JSON object; got {}", excerpt(text.substr(0, 80)));
  }
  return json;
}

std::string excerpt(const Json& json) {
  std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() > 80 ? text.substr(0, 80) + "..." : text;
}

const Json& member(const Json& json, const char* name, const std::string& where) {
  if (!json.is_object()) fail<ValueError>(where, "must be an object with \"{}\"; got {}", name, excerpt(json));
  const auto found = json.find(name);
  if (found == json.end()) fail<ValueError>(where, "\"{}\" is missing in {}", name, excerpt(json));
  return *found;
}

bool read_bool(const Json& json, const std::string& what) {
  if (!json.is_boolean()) fail<ValueError>(what, "must be true or false; got {}", excerpt(json));
  return json.get<bool>();
}

std::int64_t read_int(const Json& json, const std::string& what) {
  const bool fits = json.is_number_unsigned()
                        ? json.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()}
                        : json.is_number_integer();
  if (!fits) fail<ValueError>(what, "must be an integer; got {}", excerpt(json));
  return json.get<std::int64_t>();
}

std::int64_t read_size(const Json& json, const std::string& what) {
  const std::int64_t number = read_int(json, what);
  if (number < -max_config_int || number > max_config_int) {
    fail<ValueError>(what, "must be from {} to {}; got {}", -max_config_int, max_config_int, number);
  }
  return number;
}

double read_double(const Json& json, const std::string& what) {
  if (json.is_number()) return json.get<double>();
  if (json == "inf") return std::numeric_limits<double>::infinity();
  if (json == "-inf") return -std::numeric_limits<double>::infinity();
  if (json == "nan") return std::numeric_limits<double>::quiet_NaN();
  fail<ValueError>(what, "must be a number; got {}", excerpt(json));
}

Json write_double(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

std::string read_string(const Json& json, const std::string& what) {
  if (!json.is_string()) fail<ValueError>(what, "must be a text; got {}", excerpt(json));
  return json.get<std::string>();
}

Json write_tensor(const Tensor& tensor, const std::string& what) {
  if (tensor.size() > max_config_elements) {
    fail<ValueError>(what, "an array in a config must have at most {} elements; got shape {}", max_config_elements,
                     tensor.shape());
  }
  const bool wide = tensor.dtype() == DType::int64;  // a double can't hold all its numbers
  Json values = Json::array();
  if (wide) {
    for (std::int64_t i = 0; i < tensor.size(); ++i) values.push_back(tensor.data<std::int64_t>()[i]);
  } else {
    for (const double value : tensor.to_doubles()) values.push_back(write_double(value));
  }
  return {{"dtype", dtype_name(tensor.dtype())}, {"shape", tensor.shape()}, {"value", values}};
}

Tensor read_tensor(const Json& json, const std::string& what) {
  const DType dtype = dtype_from_name(read_string(member(json, "dtype", what), what));
  const auto shape = read_list<std::int64_t>(member(json, "shape", what), what, read_int);
  const Json& values = member(json, "value", what);
  if (!values.is_array()) fail<ValueError>(what, "\"value\" must be a list; got {}", excerpt(values));
  // Sizes are compared one by one, since their product may overflow.
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    const bool fits = size >= 0 && size <= max_config_elements;
    count = fits ? count * size : -1;
    if (count < 0 || count > max_config_elements) break;
  }
  if (shape.size() > 32 || count != static_cast<std::int64_t>(values.size())) {
    fail<ValueError>(what, "an array must have as many values as its shape {} says; got {}", shape, values.size());
  }
  if (dtype == DType::int64) return Tensor(shape, read_list<std::int64_t>(values, what, read_int));
  return Tensor(shape, read_list<double>(values, what, read_double)).cast(dtype);
}

Json write_policy(const Policy& policy, const std::string& where) {
  if (policy.inherits()) return nullptr;
  if (policy.map() != nullptr || policy.by_op() != nullptr) {
    fail<ValueError>(where,
                     "a config can't hold a PolicyMap or op lists; give such a policy to the Trainer, or to "
                     "load_model() as an option");
  }
  return {{"class_name", "DTypePolicy"}, {"config", {{"name", policy.name()}}}};
}

Policy read_policy(const Json& json, const std::string& where) {
  if (json.is_null()) return {};
  if (json.is_string()) return Policy(json.get<std::string>());
  const ObjectParts parts = read_parts(json, "dtype policy");
  if (parts.class_name != "DTypePolicy") {
    fail<ValueError>(where, "dtype must be a DTypePolicy; got \"{}\"", parts.class_name);
  }
  return Policy(read_string(member(parts.config, "name", where + " dtype"), where + " dtype"));
}

ObjectParts read_parts(const Json& json, const std::string& family) {
  const std::string where = fmt::format("[{}]", family);
  ObjectParts parts{read_string(member(json, "class_name", where), where + " class_name"), Json::object()};
  if (const auto config = json.find("config"); config != json.end() && !config->is_null()) {
    if (!config->is_object()) fail<ValueError>(where, "config must be an object; got {}", excerpt(*config));
    parts.config = *config;
  }
  return parts;
}

namespace {

// Conversions of the member types of options.

Json to_json(const std::string&, bool value) { return value; }
Json to_json(const std::string&, int value) { return value; }
Json to_json(const std::string&, std::int64_t value) { return value; }
Json to_json(const std::string&, std::uint64_t value) { return value; }
Json to_json(const std::string&, double value) { return write_double(value); }
Json to_json(const std::string&, const std::string& value) { return value; }
Json to_json(const std::string&, DType value) { return dtype_name(value); }
Json to_json(const std::string& what, const Tensor& value) { return write_tensor(value, what); }
Json to_json(const std::string&, const Ints& value) {
  const Shape& numbers = value.numbers();
  return numbers.size() == 1 ? Json(numbers[0]) : Json(numbers);
}
Json to_json(const std::string& what, const Padding& value) {
  return value.numeric() ? to_json(what, value.numbers()) : Json(value.name());
}
Json to_json(const std::string& what, const ActivationFunction& value) {
  if (!value.given()) return nullptr;
  if (value.name().empty()) {
    fail<ValueError>(what,
                     "a function of the program can't be saved; use the name of an activation, or a layer of "
                     "your own with register_layer()");
  }
  return value.name();
}
Json to_json(const std::string&, const LearningRate& value) {
  return value.is_schedule() ? write_object(value.schedule()) : write_double(value.at(0));
}
template <class T>
Json to_json(const std::string& what, const std::optional<T>& value) {
  return value ? to_json(what, *value) : Json(nullptr);
}
template <class Base>
Json to_json(const std::string&, const Any<Base>& value) {
  return write_object(value);
}
Json to_json(const std::string&, const Any<Layer>& value) {
  if (!value) return nullptr;
  const Layer& held = *value;
  held.state()->type = &typeid(held);
  return layer_configs().write(*held.state());
}
Json to_json(const std::string& what, const ParameterGroup& group) {
  return {{"match", group.match},
          {"learning_rate_factor", write_double(group.learning_rate_factor)},
          {"weight_decay", to_json(what, group.weight_decay)}};
}
template <class T>
Json to_json(const std::string& what, const std::vector<T>& values) {
  Json out = Json::array();
  for (const T& value : values) out.push_back(to_json(what, value));
  return out;
}
Json to_json(const std::string& what, const std::vector<Any<Layer>>& layers) {
  Json out = Json::array();
  std::set<const LayerState*> seen;
  for (const Any<Layer>& layer : layers) {
    if (layer && !seen.insert(layer->state().get()).second) {
      fail<ValueError>(what, "a layer that occurs twice can't be saved; got one");
    }
    out.push_back(to_json(what, layer));
  }
  return out;
}

void from_json(const Json& json, const std::string& what, bool& value) { value = read_bool(json, what); }
void from_json(const Json& json, const std::string& what, std::int64_t& value) { value = read_size(json, what); }
void from_json(const Json& json, const std::string& what, int& value) {
  const std::int64_t number = read_int(json, what);
  if (number < std::numeric_limits<int>::min() || number > std::numeric_limits<int>::max()) {
    fail<ValueError>(what, "must be an int; got {}", number);
  }
  value = static_cast<int>(number);
}
void from_json(const Json& json, const std::string& what, std::uint64_t& value) {
  if (!json.is_number_unsigned()) fail<ValueError>(what, "must be an integer, at least 0; got {}", excerpt(json));
  value = json.get<std::uint64_t>();
}
void from_json(const Json& json, const std::string& what, double& value) { value = read_double(json, what); }
void from_json(const Json& json, const std::string& what, std::string& value) { value = read_string(json, what); }
void from_json(const Json& json, const std::string& what, DType& value) {
  value = dtype_from_name(read_string(json, what));
}
void from_json(const Json& json, const std::string& what, Tensor& value) { value = read_tensor(json, what); }
Ints ints_of(const Shape& numbers) {
  Ints out;
  if (numbers.size() == 1) out = Ints(numbers[0]);
  if (numbers.size() == 2) out = Ints{numbers[0], numbers[1]};
  if (numbers.size() == 3) out = Ints{numbers[0], numbers[1], numbers[2]};
  if (numbers.size() == 4) out = Ints{numbers[0], numbers[1], numbers[2], numbers[3]};
  return out;
}
void from_json(const Json& json, const std::string& what, Ints& value) {
  if (!json.is_array()) {
    value = Ints(read_size(json, what));
    return;
  }
  const auto numbers = read_list<std::int64_t>(json, what, read_size);
  if (numbers.size() > 4) fail<ValueError>(what, "must be at most 4 numbers; got {}", excerpt(json));
  value = ints_of(numbers);
}
void from_json(const Json& json, const std::string& what, Padding& value) {
  if (json.is_string()) {
    value = Padding(json.get<std::string>());
    return;
  }
  Ints numbers;
  from_json(json, what, numbers);
  if (numbers.empty()) fail<ValueError>(what, "must be a name or numbers; got {}", excerpt(json));
  value = Padding(numbers);
}
void from_json(const Json& json, const std::string& what, ActivationFunction& value) {
  value = json.is_null() ? ActivationFunction() : ActivationFunction(read_string(json, what));
}
void from_json(const Json& json, const std::string& what, LearningRate& value) {
  value = json.is_object() ? LearningRate::of(read_object<Schedule>(json)) : LearningRate(read_double(json, what));
}
template <class T>
void from_json(const Json& json, const std::string& what, std::optional<T>& value) {
  value.reset();
  if (!json.is_null()) from_json(json, what, value.emplace());
}
template <class Base>
void from_json(const Json& json, const std::string&, Any<Base>& value) {
  value = read_object<Base>(json);
}
void from_json(const Json& json, const std::string&, Any<Layer>& value) {
  value = json.is_null() ? Any<Layer>() : layer_configs().read(json, Policy());
}
void from_json(const Json& json, const std::string& what, ParameterGroup& group) {
  group.match = read_string(member(json, "match", what), what);
  group.learning_rate_factor = read_double(member(json, "learning_rate_factor", what), what);
  from_json(member(json, "weight_decay", what), what, group.weight_decay);
}
template <class T>
void from_json(const Json& json, const std::string& what, std::vector<T>& values) {
  if (!json.is_array()) fail<ValueError>(what, "must be a list; got {}", excerpt(json));
  values.clear();
  for (const Json& item : json) from_json(item, what, values.emplace_back());
}

/// Integers that are no sizes.
template <class T>
struct AnyInteger {
  T value;
};
template <class T>
Json to_json(const std::string& what, const AnyInteger<T>& integer) {
  return to_json(what, integer.value);
}
void from_json(const Json& json, const std::string& what, AnyInteger<std::int64_t>& integer) {
  integer.value = read_int(json, what);
}
void from_json(const Json& json, const std::string& what, AnyInteger<std::optional<std::int64_t>>& integer) {
  integer.value = json.is_null() ? std::nullopt : std::optional<std::int64_t>(read_int(json, what));
}
void from_json(const Json& json, const std::string& what, AnyInteger<std::vector<std::int64_t>>& integers) {
  integers.value = read_list<std::int64_t>(json, what, read_int);
}

/// Options that are layers, which are checked as a whole.
template <class T>
struct HoldsLayers : std::false_type {};
template <>
struct HoldsLayers<Any<Layer>> : std::true_type {};
template <>
struct HoldsLayers<std::vector<Any<Layer>>> : std::true_type {};

}  // namespace
}  // namespace detail

template <class T>
void Fields::exchange(const char* name, T& value) {
  const std::string what = fmt::format("{} {}", content_.where, name);
  if (content_.writes) {
    const detail::Json& written = (*content_.json)[name] = detail::to_json(what, value);
    if constexpr (!detail::HoldsLayers<T>::value) {
      T again = value;
      detail::from_json(written, what, again);  // raises the errors of later uses now
    }
    return;
  }
  content_.known.insert(name);
  const auto found = content_.json->find(name);
  if (found != content_.json->end()) detail::from_json(*found, what, value);
}

template <class T>
void Fields::exchange_any(const char* name, T& value) {
  detail::AnyInteger<T> integer{value};
  exchange(name, integer);
  value = std::move(integer.value);
}

void Fields::operator()(const char* name, bool& value) { exchange(name, value); }
void Fields::operator()(const char* name, int& value) { exchange(name, value); }
void Fields::operator()(const char* name, std::int64_t& value) { exchange(name, value); }
void Fields::operator()(const char* name, double& value) { exchange(name, value); }
void Fields::operator()(const char* name, std::string& value) { exchange(name, value); }
void Fields::operator()(const char* name, DType& value) { exchange(name, value); }
void Fields::operator()(const char* name, std::vector<std::int64_t>& value) { exchange(name, value); }
void Fields::operator()(const char* name, std::vector<double>& value) { exchange(name, value); }
void Fields::operator()(const char* name, std::vector<std::string>& value) { exchange(name, value); }
void Fields::operator()(const char* name, std::optional<std::int64_t>& value) { exchange(name, value); }
void Fields::operator()(const char* name, std::optional<std::uint64_t>& value) { exchange(name, value); }
void Fields::operator()(const char* name, std::optional<double>& value) { exchange(name, value); }
void Fields::operator()(const char* name, std::optional<Tensor>& value) { exchange(name, value); }
void Fields::operator()(const char* name, detail::Ints& value) { exchange(name, value); }
void Fields::operator()(const char* name, detail::Padding& value) { exchange(name, value); }
void Fields::operator()(const char* name, ActivationFunction& value) { exchange(name, value); }
void Fields::operator()(const char* name, detail::LearningRate& value) { exchange(name, value); }
void Fields::operator()(const char* name, std::vector<ParameterGroup>& value) { exchange(name, value); }
void Fields::operator()(const char* name, Any<Initializer>& value) { exchange(name, value); }
void Fields::operator()(const char* name, Any<Regularizer>& value) { exchange(name, value); }
void Fields::operator()(const char* name, Any<Constraint>& value) { exchange(name, value); }
void Fields::operator()(const char* name, Any<Loss>& value) { exchange(name, value); }
void Fields::operator()(const char* name, Any<Layer>& value) { exchange(name, value); }
void Fields::operator()(const char* name, std::vector<Any<Layer>>& value) { exchange(name, value); }
void Fields::any_integer(const char* name, std::int64_t& value) { exchange_any(name, value); }
void Fields::any_integer(const char* name, std::optional<std::int64_t>& value) { exchange_any(name, value); }
void Fields::any_integer(const char* name, std::vector<std::int64_t>& value) { exchange_any(name, value); }

}  // namespace mezzo
