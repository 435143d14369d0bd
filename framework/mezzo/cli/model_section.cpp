#include <filesystem>
#include <map>

#include <mezzo/cli/config.hpp>
#include <mezzo/cli/usage_error.hpp>
#include <mezzo/nn/layer_state.hpp>

namespace mezzo::cli {
namespace {

/// Input of the first layer of the short form.
Json read_input(Json& layer) {
  std::vector<std::int64_t> shape;
  DType dtype = DType::float32;
  std::string name;
  Section section(layer["config"], "model.config.layers.0.config");
  section("shape", shape);
  section("dtype", dtype);
  section("name", name);
  section.finish();
  if (shape.empty()) fail_usage("model.config.layers.0: an Input needs a shape");
  shape.insert(shape.begin(), -1);
  return {{"shape", shape}, {"dtype", dtype_name(dtype)}, {"name", name}};
}

/// The config of a Sequential as Model::to_json() writes it, of a list of layers.
void lengthen(Json& config) {
  Section section(config, "model.config");
  Json layers = section.raw("layers"), name = section.raw("name"), dtype = section.raw("dtype");
  section.finish();
  if (!layers.is_array() || layers.empty()) fail_usage("model.config.layers must be a list of layers");
  Json out = Json::array(), order = Json::array(), input;
  std::map<std::string, int> used;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    Json& layer = layers[i];
    if (layer.is_string()) layer = Json{{"class_name", layer}};
    const std::string where = fmt::format("model.config.layers.{}", i);
    Section one(layer, where);
    std::string class_name;
    one("class_name", class_name);
    one.raw("config");
    one.finish();
    if (i == 0 && class_name != "Input" && class_name != "InputLayer") {
      fail_usage("{} must be an Input: {{\"class_name\": \"Input\", \"config\": {{\"shape\": [4]}}}}", where);
    }
    if (i == 0) {
      input = read_input(layer);
      continue;
    }
    const std::string base = detail::snake_case(class_name);
    const int count = used[base]++;
    layer["name"] = count == 0 ? base : fmt::format("{}_{}", base, count);
    order.push_back(out.size());
    out.push_back(layer);
  }
  config = {{"layers", out}, {"order", order}, {"input", input}};
  if (!name.is_null()) config["name"] = name;
  if (!dtype.is_null()) config["dtype"] = dtype;
}

}  // namespace

Any<Model> read_model_section(Json& json) {
  if (json.is_null()) fail_usage("model must be given: {{\"class_name\": ..., \"config\": ...}} or {{\"file\": ...}}");
  if (json.is_object() && json.contains("file")) {
    Section section(json, "model");
    std::string file;
    section("file", file);
    section.finish();
    json["file"] = std::filesystem::absolute(file).lexically_normal().string();
    return load_model(file);
  }
  Json model = json;
  if (!model.is_object()) fail_usage("model must be an object; got {}", model.dump());
  if (!model.contains("class_name")) {
    std::vector<std::string> keys;
    for (const auto& item : model.items()) keys.push_back(item.key());
    fail_usage("model must have \"class_name\" and \"config\", or \"file\"; got {}", fmt::join(keys, ", "));
  }
  if (model["class_name"] == "Sequential" && model.contains("config") && !model["config"].contains("order")) {
    lengthen(model["config"]);
  }
  Any<Model> made = model_from_json(model.dump());
  json = Json::parse(made->to_json());
  return made;
}

}  // namespace mezzo::cli
