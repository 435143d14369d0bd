#include <mezzo/core/fail.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/io/safetensors.hpp>
#include <mezzo/layers/preprocessing/feature_space.hpp>
#include <mezzo/nn/config_json.hpp>
#include <mezzo/nn/file_errors.hpp>
#include <mezzo/nn/file_formats.hpp>

// A FeatureSpace in a file: safetensors without tensors, whose metadata have its config as that of a layer. Model files
// have the same object among their layers.
namespace mezzo {
namespace {

constexpr const char* space_format = "mezzo_feature_space";
constexpr const char* space_version = "1";

std::string label_of_space_file(const std::string& path) { return fmt::format("[FeatureSpace \"{}\"]", path); }

struct SavedSpace {
  std::string name, path;  // "feature_space", "encoder/feature_space"
  const detail::Json* config = nullptr;
};

std::string text_member(const detail::Json& json, const char* name) {
  const auto found = json.is_object() ? json.find(name) : json.end();
  return found == json.end() || !found->is_string() ? std::string() : found->get<std::string>();
}

/// Name of a layer in its model, which may be automatic.
std::string name_of_layer_in(const detail::Json& json) {
  const auto config = json.find("config");
  for (const std::string& name :
       {text_member(json, "name"), config == json.end() ? std::string() : text_member(*config, "name")}) {
    if (!name.empty()) return name;
  }
  return detail::snake_case(text_member(json, "class_name"));
}

/// Adds all FeatureSpaces in a config. `path` is that of the layer around it, with a "/" behind it.
void collect_spaces(const detail::Json& json, const std::string& path, std::vector<SavedSpace>& out) {
  for (const detail::Json& part : json) {
    if (!part.is_structured()) continue;
    const std::string kind = text_member(part, "class_name");
    const std::string name = kind.empty() ? std::string() : name_of_layer_in(part);
    if (kind == "FeatureSpace") {
      out.push_back({name, path + name, &part});
    } else {
      collect_spaces(part, kind.empty() ? path : path + name + "/", out);
    }
  }
}

const detail::Json& chosen_space(const detail::Json& json, const std::string& name, const std::string& where) {
  std::vector<SavedSpace> all;
  if (text_member(json, "class_name") == "FeatureSpace") {
    all.push_back({name_of_layer_in(json), name_of_layer_in(json), &json});
  } else {
    collect_spaces(json, "", all);
  }
  if (all.empty()) fail<FileError>(where, "the model must have a layer FeatureSpace; it has none");
  std::vector<std::string> paths, fitting;
  const detail::Json* chosen = nullptr;
  for (const SavedSpace& one : all) {
    paths.push_back(one.path);
    if (one.path == name) return *one.config;
    if (!name.empty() && one.name != name) continue;
    fitting.push_back(one.path);
    chosen = one.config;
  }
  if (fitting.size() == 1) return *chosen;
  if (name.empty()) fail<FileError>(where, "a name must be given for one of several: {}", fmt::join(paths, ", "));
  if (fitting.empty()) {
    fail<FileError>(where, "unknown FeatureSpace \"{}\"; valid names: {}", name, fmt::join(paths, ", "));
  }
  fail<FileError>(where, "\"{}\" must be a path of one of several: {}", name, fmt::join(fitting, ", "));
}

std::string config_of_file(const SafetensorsFile& file, const std::string& where) {
  const auto text = [&](const char* key) {
    const auto found = file.metadata().find(key);
    return found == file.metadata().end() ? std::string() : found->second;
  };
  const std::string format = text("format");
  if (format != space_format && format != detail::file_formats::model) {
    fail<FileError>(where, "must be a file of FeatureSpace::save() or of Model::save(); got format \"{}\"", format);
  }
  if (text("format_version") != space_version) {
    fail<FileError>(where, "format_version must be {}; got \"{}\"", space_version, text("format_version"));
  }
  if (file.checksums() != SafetensorsFile::Checksums::all) {
    fail<FileError>(where, "metadata must have the checksums that save() writes; got none, or none of the header");
  }
  return text("config");
}

}  // namespace

void FeatureSpace::save(const std::string& path) const {
  const std::string where = label_of_space_file(path);
  detail::check_suffix(path, detail::FileKind::safetensors, where, ".mezzo, or have a suffix of its own");
  state()->type = &typeid(*this);
  std::string text;
  try {
    text = detail::layer_configs().write(*state()).dump(-1, ' ', true);
  } catch (const detail::Json::exception& error) {
    fail<NameError>(where, "names and texts must be UTF-8; got other bytes ({})", error.what());
  }
  detail::parse_config(text, where);
  save_safetensors(path, {}, {{"format", space_format}, {"format_version", space_version}, {"config", text}});
}

FeatureSpace FeatureSpace::load(const std::string& path, const std::string& name) {
  const std::string where = label_of_space_file(path);
  detail::check_kind(path, {detail::FileKind::safetensors}, where,
                     "a file of FeatureSpace::save() or of Model::save() (.mezzo)");
  const SafetensorsFile file(path);
  const std::string text = config_of_file(file, where);
  return detail::with_file_errors(where, [&] {
    const detail::Json json = detail::parse_config(text, "");
    const Any<Layer> layer = detail::layer_configs().read(chosen_space(json, name, where), Policy());
    return FeatureSpace(dynamic_cast<const FeatureSpace&>(*layer));
  });
}

}  // namespace mezzo
