#include <mezzo/training/keras_files/shared_objects.hpp>

#include <map>
#include <string>
#include <vector>

namespace mezzo::detail {
namespace {

constexpr const char* id_name = "shared_object_id";

/// All objects with a class, in the order of the text, each before the objects in it.
void collect(Json& json, std::vector<Json*>& out) {
  if (!json.is_structured()) return;
  if (json.is_object() && json.contains("class_name") && json.contains("config")) out.push_back(&json);
  for (Json& part : json) collect(part, out);
}

void erase_ids(Json& json) {
  if (!json.is_structured()) return;
  if (json.is_object()) json.erase(id_name);
  for (Json& part : json) erase_ids(part);
}

/// Text that equal objects have, whatever their ids.
std::string key_of(const Json& object) {
  Json parts = Json::array({object["class_name"], object["config"]});
  erase_ids(parts);
  return parts.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Json with_shared_objects(Json config) {
  std::vector<Json*> objects;
  collect(config, objects);
  std::map<Json, int> counts;
  for (const Json* const object : objects) {
    if (object->contains(id_name)) ++counts[(*object)[id_name]];
  }
  std::map<std::string, std::vector<Json*>> without_id;
  bool any = false;
  for (const auto& entry : counts) any = any || entry.second == 1;
  for (std::size_t i = 0; any && i < objects.size(); ++i) {
    Json& object = *objects[i];
    const bool has_id = object.contains(id_name);
    if (has_id && counts[object[id_name]] != 1) continue;
    std::vector<Json*>& equal = without_id[key_of(object)];
    if (!has_id) {
      equal.push_back(&object);
    } else if (!equal.empty()) {
      (*equal.front())[id_name] = object[id_name];
    }
  }
  return config;
}

}  // namespace mezzo::detail
