#pragma once
#include <cstdint>
#include <set>
#include <string>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/saved_class.hpp>
#include <nlohmann/json.hpp>

// Configs as JSON. An object of a family is {"class_name": "Dense", "config": {...}}, as in Keras.
namespace mezzo::detail {

using Json = nlohmann::json;

/// Options that a config holds, while they are written or read.
struct FieldsContent {
  Json* json = nullptr;  ///< the object "config"
  bool writes = false;
  std::string where;              ///< start of errors: `[Dense]`
  std::set<std::string> known{};  ///< members that were read

  /// Throws a NameError for a member that was not read.
  void check_all_known() const;
};

/// Deepest nesting of configs that are read. Deeper ones are a ValueError, so that recursion is bounded.
constexpr int max_config_depth = 32;

/// Deepest nesting of objects and lists in the text of a config: code of nlohmann_json is recursive.
constexpr int max_json_depth = 400;

/// Longest config in bytes.
constexpr std::size_t max_config_bytes = std::size_t{8} << 20;

/// Most elements of an array in a config.
constexpr std::int64_t max_config_elements = 65536;

/// Largest absolute value of integers in options.
constexpr std::int64_t max_config_int = std::int64_t{1} << 31;

/// Counts the nesting of configs on this thread for its lifetime. A ValueError above max_config_depth.
class ConfigDepth {
 public:
  ConfigDepth();
  ~ConfigDepth();
  ConfigDepth(const ConfigDepth&) = delete;
  ConfigDepth& operator=(const ConfigDepth&) = delete;
};

/// Writes, reads and copies layers, models among them. Set by registration.cpp, since models belong to a higher folder.
struct LayerConfigs {
  Json (*write)(const LayerState& state) = nullptr;
  Any<Layer> (*read)(const Json& json, const Policy& policy) = nullptr;
  Any<Layer> (*copy)(const Layer& layer) = nullptr;  ///< copies a layer of a class that isn't registered; else returns
                                                     ///< an empty handle
};
LayerConfigs& layer_configs();

/// Parses the text of a config. A ValueError that starts with `where` if it is not a JSON object, or too long.
Json parse_config(const std::string& text, const std::string& where);

/// Member of an object; a ValueError if it is missing. `where` starts the error.
const Json& member(const Json& json, const char* name, const std::string& where);

/// Shortened text of a JSON value for errors.
std::string excerpt(const Json& json);

/// @name Values of members; each read is a ValueError that starts with `where` and names the member for another type
/// @{
bool read_bool(const Json& json, const std::string& what);
std::int64_t read_int(const Json& json, const std::string& what);
/// An integer of at most max_config_int, so that products of two can't overflow.
std::int64_t read_size(const Json& json, const std::string& what);
double read_double(const Json& json, const std::string& what);
std::string read_string(const Json& json, const std::string& what);
Json write_double(double value);
Json write_tensor(const Tensor& tensor, const std::string& what);
Tensor read_tensor(const Json& json, const std::string& what);
/// @}

/// Policy as Keras' dtype policy: null inherits.
Json write_policy(const Policy& policy, const std::string& where);
Policy read_policy(const Json& json, const std::string& where);

/// The class of an object, or null if none is registered for it.
template <class Base>
const SavedClass<Base>* find_class(const std::type_info& type);
/// The class of that name, or null.
template <class Base>
const SavedClass<Base>* find_class(const std::string& name);
/// Names of all classes of the family.
template <class Base>
std::vector<std::string> class_names();

/// Sets the built-in classes of a family. The first look-up calls `classes`.
template <class Base>
void register_classes(std::vector<SavedClass<Base>> (*classes)());

/// Writes an object of a family other than Layer. A ValueError if its class isn't registered.
template <class Base>
Json write_object(const Any<Base>& object);

/// Makes an object of {"class_name", "config"} or of a name of the family. Null becomes an empty handle.
template <class Base>
Any<Base> read_object(const Json& json);

/// Writes options, or makes an object of them. A member that was not read is an error.
template <class Base>
Json write_options(const SavedClass<Base>& entry, const std::any& options);
template <class Base>
Any<Base> read_options(const SavedClass<Base>& entry, const Json& config, const std::string& name = {},
                       const Policy& dtype = {});

/// Reads class_name and config of an object.
struct ObjectParts {
  std::string class_name;
  Json config;
};
ObjectParts read_parts(const Json& json, const std::string& family);

}  // namespace mezzo::detail
