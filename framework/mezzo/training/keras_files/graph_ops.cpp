#include <mezzo/training/keras_files/graph_ops.hpp>

#include <algorithm>
#include <cctype>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/layer_state.hpp>
#include <mezzo/training/keras_files/objects_in.hpp>
#include <mezzo/training/model/model_config.hpp>

namespace mezzo::detail {
namespace {

/// An op with another name in Keras. The others have the same, as a class: "log_sigmoid" is LogSigmoid.
struct OpRow {
  const char *keras, *mezzo;
};
constexpr OpRow op_rows[] = {
    {"TrueDivide", "divide"}, {"Concatenate", "concat"}, {"Absolute", "abs"},
    {"GetItem", "slice"},     {"Amax", "max"},           {"Amin", "min"},
};

const std::set<std::string>& ops_of_nn() {
  static const auto* const names = new std::set<std::string>{
      "relu", "relu6", "sigmoid", "softplus", "softsign", "silu", "log_sigmoid", "hard_sigmoid", "hard_silu",
      "elu",  "selu",  "gelu",    "softmax",  "celu",     "mish", "tanh_shrink", "hard_tanh",    "soft_shrink"};
  return *names;
}

bool is_reduction(const std::string& op) {
  return op == "sum" || op == "mean" || op == "max" || op == "min" || op == "all" || op == "any";
}

std::string class_of_op(const std::string& op) {
  for (const OpRow& row : op_rows) {
    if (op == row.mezzo && op != "max" && op != "min") return row.keras;
  }
  std::string out;
  bool upper = true;
  for (const char c : op) {
    if (c == '_') {
      upper = true;
      continue;
    }
    out += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    upper = false;
  }
  return out;
}

Json option_of(const Json& config, const char* name, const Json& otherwise) {
  const auto found = config.find(name);
  return found == config.end() ? otherwise : *found;
}

/// Sizes with None as -1.
Json sizes_in(const Json& sizes, const std::string& where) {
  if (sizes.is_number_integer()) return Json::array({sizes});
  if (!sizes.is_array()) fail<ValueError>(where, "must be a list of sizes; got {}", excerpt(sizes));
  Json out = Json::array();
  for (const Json& size : sizes) out.push_back(size.is_null() ? Json(-1) : size);
  return out;
}

Json attributes_in(const std::string& op, const Json& config, const std::string& where) {
  if (op == "softmax" || op == "concat") return {{"axis", option_of(config, "axis", -1)}};
  if (op == "gelu") return {{"approximate", option_of(config, "approximate", true)}};
  if (op == "reshape") return {{"shape", sizes_in(option_of(config, "newshape", nullptr), where)}};
  if (op == "transpose") return {{"permutation", sizes_in(option_of(config, "axes", nullptr), where)}};
  if (op == "cast") return {{"dtype", option_of(config, "dtype", nullptr)}};
  if (is_reduction(op)) {
    const Json axis = option_of(config, "axis", nullptr);
    return {{"axes", axis.is_null() ? Json::array() : sizes_in(axis, where)},
            {"keepdims", option_of(config, "keepdims", false)}};
  }
  return Json::object();
}

Json attributes_out(const std::string& op, const Json& attributes) {
  if (op == "softmax" || op == "concat") return {{"axis", option_of(attributes, "axis", -1)}};
  if (op == "gelu") return {{"approximate", option_of(attributes, "approximate", false)}};
  if (op == "reshape") return {{"newshape", option_of(attributes, "shape", nullptr)}};
  if (op == "transpose") return {{"axes", option_of(attributes, "permutation", nullptr)}};
  if (op == "cast") return {{"dtype", option_of(attributes, "dtype", nullptr)}};
  if (is_reduction(op)) {
    const Json axes = option_of(attributes, "axes", Json::array());
    return {{"axis", axes.empty() ? Json() : axes}, {"keepdims", option_of(attributes, "keepdims", false)}};
  }
  return Json::object();
}

}  // namespace

bool is_keras_operation(const Json& object) {
  const auto module = object.is_object() ? object.find("module") : object.end();
  if (module == object.end() || !module->is_string()) return false;
  const auto name = module->get<std::string>();
  return name.rfind("keras.src.ops", 0) == 0 || name.rfind("keras.ops", 0) == 0;
}

Json operation_in(const std::string& class_name, const Json& config, const std::string& where) {
  std::string op = snake_case(class_name);
  for (const OpRow& row : op_rows) {
    if (class_name == row.keras) op = row.mezzo;
  }
  if (!is_saved_op(op)) {
    fail<ValueError>(where, "the operation {} of keras.ops can't be read between layers: put it into a layer",
                     printable_name(class_name));
  }
  const Json attributes = attributes_in(op, config, where);
  const std::set<std::string> read{"axis", "keepdims", "approximate", "newshape", "axes", "dtype", "name", "shape"};
  for (const auto& item : config.items()) {
    if (read.count(item.key()) == 0 && !item.value().is_null()) {
      fail<ValueError>(where, "{} has the option \"{}\", which mezzo lacks; got {}", printable_name(class_name),
                       printable_name(item.key()), excerpt(item.value()));
    }
  }
  return {{"op", op}, {"attributes", attributes}};
}

Json key_of_slice(const Json& attributes) {
  const Json &starts = attributes.at("starts"), &sizes = attributes.at("sizes");
  Json key = Json::array();
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const auto start = starts[i].get<std::int64_t>(), size = sizes.at(i).get<std::int64_t>();
    key.push_back({{"class_name", "__slice__"},
                   {"config",
                    {{"start", start == 0 ? Json() : Json(start)},
                     {"stop", size < 0 ? Json() : Json(start + size)},
                     {"step", nullptr}}}});
  }
  return {{"class_name", "__tuple__"}, {"config", {{"value", key}}}};
}

Json operation_out(const Json& op, const std::string& name, const std::string& where) {
  const std::string ours = read_string(member(op, "op", where), where);
  const std::string keras = class_of_op(ours);
  const char* const module = ours == "cast" ? "core" : ops_of_nn().count(ours) != 0 ? "nn" : "numpy";
  Json config = attributes_out(ours, member(op, "attributes", where));
  config["name"] = name;
  return {{"module", fmt::format("keras.src.ops.{}", module)},
          {"class_name", keras},
          {"config", config},
          {"registered_name", keras}};
}

}  // namespace mezzo::detail
