#include <mezzo/training/keras_files/keras_archive.hpp>

#include <algorithm>
#include <optional>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/io/zip_file.hpp>
#include <mezzo/io/zip_writer.hpp>
#include <mezzo/nn/adapters.hpp>
#include <mezzo/nn/file_errors.hpp>
#include <mezzo/nn/weight_names.hpp>
#include <mezzo/training/keras_files/attention_in.hpp>
#include <mezzo/training/keras_files/compile_out.hpp>
#include <mezzo/training/keras_files/config_to_model.hpp>
#include <mezzo/training/keras_files/legacy_h5.hpp>
#include <mezzo/training/keras_files/objects_out.hpp>
#include <mezzo/training/keras_files/optimizer_variables.hpp>
#include <mezzo/training/keras_files/weight_groups.hpp>
#include <mezzo/training/model/model_config.hpp>
#include <mezzo/training/model/model_file.hpp>
#include <mezzo/training/step/training_state.hpp>

namespace mezzo::detail {
namespace {

constexpr const char *config_entry = "config.json", *weights_entry = "model.weights.h5",
                     *metadata_entry = "metadata.json";
constexpr const char* keras_version = "3.15.1";  ///< version whose format is written

std::string label_of_archive(const std::string& path) { return fmt::format("[model \"{}\"]", path); }

Bytes read_entry(const ZipFile& zip, const char* name, std::uint64_t most, const std::string& where) {
  const ZipEntry* const entry = zip.find(name);
  if (entry == nullptr) fail<FileError>(where, "a .keras archive must have \"{}\"; this one lacks it", name);
  if (entry->size > most) fail<FileError>(where, "\"{}\" must have at most {} bytes; got {}", name, most, entry->size);
  return zip.read(*entry, where);
}

/// Vocabularies and other files beside the weights.
void refuse_assets(const ZipFile& zip, const std::string& where) {
  for (const ZipEntry& entry : zip.entries()) {
    if (entry.name.rfind("assets/", 0) != 0) continue;
    std::string name = entry.name.substr(0, 80);
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
    fail<FileError>(where, "the archive has the file \"{}\" of a layer; mezzo reads vocabularies in the config only",
                    name);
  }
}

Any<Model> load_archive(const std::string& path, const LoadModelOptions& options, const std::string& where) {
  const ZipFile zip(path, where);
  const Bytes text = read_entry(zip, config_entry, max_config_bytes, where);
  const Json config = parse_config(std::string(text.begin(), text.end()), where);
  refuse_assets(zip, where);
  const Hdf5File file(read_entry(zip, weights_entry, std::uint64_t{1} << 62U, where),
                      fmt::format("[model \"{}\" {}]", path, weights_entry));
  Any<Model> made = model_of_keras_config(config, file, options, where);
  Model& model = *made;
  quantize_attention_of_file(*model.state(), file);
  const std::vector<KerasWeights> weights = keras_weights(*model.state(), LayerListing::as_declared);
  assign_keras_weights(match_keras_weights(weights, file).numbers, file);
  const auto compiled = config.find("compile_config");
  if (options.compile && compiled != config.end() && compiled->is_object() && !compiled->empty()) {
    compile_by_keras_config(model, *compiled);
    read_optimizer_variables(model, file);
  }
  return made;
}

/// Name of the policy of layers without one of their own.
std::string policy_of(const Model& model) {
  return model.state()->policy.inherits() ? dtype_policy().name() : model.state()->policy.name();
}

std::vector<std::string> outputs_of(const Model& model) {
  try {
    return model.output_names();
  } catch (const ValueError&) {
    return {};
  }
}

/// Adds the inputs of the call that built the model: Keras' build_config, and dtypes beside it, which Keras ignores.
void add_build(const Json& inputs, Json& config) {
  Json shapes = Json::array(), dtypes = Json::array();
  bool others = false;
  for (const Json& input : inputs) {
    shapes.push_back(sizes_out(input.at("shape")));
    dtypes.push_back(input.at("dtype"));
    others = others || dtypes.back() != "float32";
  }
  config["build_config"] = {{"input_shape", shapes.size() == 1 ? shapes[0] : shapes}};
  if (others) config["build_dtypes"] = std::move(dtypes);
}

/// config.json. A ValueError names what Keras lacks.
Json archive_config(Model& model, bool compiled) {
  const Json ours = Json::parse(ModelFile::to_json(model));
  Json config = keras_layer_out(ours, policy_of(model));
  if (const auto build = ours.find("build"); build != ours.end()) add_build(*build, config);
  if (!compiled) return config;
  try {
    config["compile_config"] = keras_compile_out(write_compile(*model.compile_options(), model), outputs_of(model));
  } catch (const ValueError& error) {
    fail<ValueError>("", "{}. Save without the options of compile() by {{.compile = false}}", error.what());
  }
  return config;
}

Bytes archive_weights(Model& model, bool compiled, const std::string& where) {
  Hdf5Writer file(where);
  write_keras_weights(keras_weights(*model.state(), LayerListing::by_graph), file);
  // The optimizer has states of the adapters, which the file lacks.
  if (compiled && !has_adapters(*model.state())) write_optimizer_variables(model, file);
  return file.finish();
}

}  // namespace

Any<Model> load_keras_model(const std::string& path, const LoadModelOptions& options) {
  const std::string where = label_of_archive(path);
  const bool archive = kind_of_file(path) == FileKind::keras;
  return with_file_errors(
      where, [&] { return archive ? load_archive(path, options, where) : load_legacy_model(path, options, where); });
}

void save_keras_model(Model& model, const std::string& path, bool compiled, std::optional<IdleScope>& idle) {
  const std::string where = label_of_archive(path);
  std::string config;
  try {
    config = archive_config(model, compiled).dump(-1, ' ', true);
  } catch (const ValueError& error) {
    fail<ValueError>(where, "the model can't be saved for Keras: {}", error.what());
  }
  const Bytes weights = archive_weights(model, compiled, where);
  idle.reset();
  const std::string metadata = Json{{"keras_version", keras_version}}.dump();
  ZipWriter zip(path, where);
  const auto add = [&](const char* name, const void* from, std::size_t count) {
    zip.add(name, [&](const ZipWriter::Write& write) { write(from, count); });
  };
  add(metadata_entry, metadata.data(), metadata.size());
  add(config_entry, config.data(), config.size());
  add(weights_entry, weights.data(), weights.size());
  zip.commit();
}

}  // namespace mezzo::detail
