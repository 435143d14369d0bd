#include <mezzo/training/model/model_file.hpp>

#include <algorithm>
#include <any>
#include <filesystem>
#include <limits>
#include <typeinfo>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/node_budget.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/io/open_file.hpp>
#include <mezzo/io/safetensors.hpp>
#include <mezzo/nn/adapter_config.hpp>
#include <mezzo/nn/file_errors.hpp>
#include <mezzo/nn/file_formats.hpp>
#include <mezzo/nn/layer_label.hpp>
#include <mezzo/nn/quantize_layers.hpp>
#include <mezzo/nn/quantize_weights.hpp>
#include <mezzo/nn/weight_budget.hpp>
#include <mezzo/training/checkpoints/checkpoint.hpp>
#include <mezzo/training/model/config_work.hpp>
#include <mezzo/training/model/keras_model_files.hpp>
#include <mezzo/training/model/model_config.hpp>
#include <mezzo/training/model/sequential.hpp>
#include <mezzo/training/model/shared_layers.hpp>

namespace mezzo {
namespace detail {
namespace {

std::string label_of_file(const std::string& path) { return fmt::format("[model \"{}\"]", path); }

std::string metadata_text(const SafetensorsFile& file, const char* key) {
  const auto found = file.metadata().find(key);
  return found == file.metadata().end() ? std::string() : found->second;
}

void check_format(const SafetensorsFile& file, const std::string& where) {
  const std::string format = metadata_text(file, "format"), version = metadata_text(file, "format_version");
  if (format != file_formats::model) {
    fail<FileError>(where, "format must be \"{}\", as Model::save writes; got \"{}\"{}", file_formats::model, format,
                    format == "pt" ? " (a weight file: use load_weights)" : reader_of_format(format));
  }
  if (version != ModelFile::version) {
    fail<FileError>(where, "format_version must be {}; got \"{}\"", ModelFile::version, version);
  }
  if (file.checksums() != SafetensorsFile::Checksums::all) {
    fail<FileError>(where, "metadata must have the checksums that Model::save writes; got none, or none of the header");
  }
}

/// Elements of the weights in the file.
std::int64_t weight_elements(const SafetensorsFile& file) {
  std::int64_t elements = 0;
  for (const SafetensorsFile::Entry& entry : file.entries()) {
    if (entry.name.rfind("model.", 0) == 0) elements += element_count(entry.shape);
  }
  return metadata_text(file, ModelFile::quantization).empty() ? elements : 2 * elements;  // two codes a byte
}

/// Bytes of the config and of all numbers.
std::uint64_t config_and_weights(const SafetensorsFile& file) {
  std::uint64_t bytes = metadata_text(file, ModelFile::config).size();
  for (const SafetensorsFile::Entry& entry : file.entries()) bytes += entry.bytes;
  return bytes;
}

/// Restores only the weights.
void restore_weights(const SafetensorsFile& file, Model& model, const std::string& where) {
  CheckpointReader reader(file);
  std::vector<SavedWeight> weights;
  for (const FileWeight& weight : file_weights(*model.state()).weights) weights.push_back(reader.read(weight));
  reader.note_unexpected({"optimizer."});
  if (reader.faults.any()) fail<FileError>(where, "the weights do not fit the layers: {}", reader.faults.text());
  for (SavedWeight& weight : weights) weight.restore({});
}

/// Text of a config. A NameError for names that aren't UTF-8.
std::string text_of_config(const Json& json) {
  try {
    return json.dump(-1, ' ', true);
  } catch (const Json::exception& error) {
    fail<NameError>("[save]", "names must be UTF-8; got other bytes ({})", error.what());
  }
}

constexpr const char* no_whole_call =
    "the model must have a call without an error, after the last add(), before it is saved; got none";

/// False if the first call of a layer has failed, or has not reached all layers of a Sequential. pop() and add() keep
/// the layers' own calls.
bool has_whole_call(const LayerState& layer) {
  if (layer.called) return true;
  return std::any_cast<SequenceLayout>(&layer.content) != nullptr &&
         std::all_of(layer.children.begin(), layer.children.end(),
                     [](const auto& child) { return has_whole_call(*child.second); });
}

/// Throws if a part of the layers has weights, which load_model() would not make.
void require_whole_call(const LayerState& model, const std::string& where) {
  if (model.built_for.empty() || has_whole_call(model)) return;
  fail<ValueError>(where, "{}", no_whole_call);
}

bool has_training(const SafetensorsFile& file) { return file.metadata().count(checkpoint_format::step) != 0; }

}  // namespace

namespace {

/// Config of a model. A ValueError if its text or nesting would be an error of load_model().
std::string config_text(const Model& model) {
  const LayerState& state = *model.state();
  const std::type_info* const before = state.type;
  std::optional<ConfigDepth> of_maker;  // as read_model()
  if (typeid(model) != typeid(Model) && typeid(model) != typeid(Sequential)) of_maker.emplace();
  model.state()->type = &typeid(model);
  Json json;
  try {
    SharedLayers shared;
    json = write_layer(state);
    shared.keep_repeated(json);
  } catch (...) {
    model.state()->type = before;
    throw;
  }
  if (*state.type != typeid(Model) && !state.built_for.empty() && has_whole_call(state)) {
    Json& build = json["build"] = Json::array();
    for (const Spec& spec : state.built_for) build.push_back(write_spec(spec));
  }
  if (Json adapters = write_adapters(model); !adapters.is_null()) json["lora"] = std::move(adapters);
  std::string text = text_of_config(json);
  parse_config(text, "[save]");
  return text;
}

/// True if a Sequential has changed since its last call.
bool has_changed(const LayerState& layer) {
  const bool sequence = std::any_cast<SequenceLayout>(&layer.content) != nullptr;
  if (sequence && !layer.called && !layer.built_for.empty()) return true;
  return std::any_of(layer.children.begin(), layer.children.end(),
                     [](const auto& child) { return has_changed(*child.second); });
}

/// True if a model of this config has weights of the same names and shapes. Quantized ones aren't compared.
bool makes_weights_of(const std::string& layers, const LayerState& state) {
  if (!quantization_text(state).empty()) return true;
  try {
    const Any<Model> again = read_model(Json::parse(layers), {}, {});
    const auto made = file_weights(*again->state()).weights, own = file_weights(state).weights;
    return std::equal(made.begin(), made.end(), own.begin(), own.end(), [](const FileWeight& a, const FileWeight& b) {
      return a.name() == b.name() && a.variable.shape() == b.variable.shape();
    });
  } catch (const Error&) {
    return false;
  }
}

[[noreturn]] void fail_unbuilt(const std::string& where) {
  fail<ValueError>(where, "the model must be built to be saved: by an Input, build() or a call");
}

/// Throws if load_model() would make other weights, since layers were built alone or have changed.
void require_same_weights(const Model& model, const std::string& where) {
  const LayerState& state = *model.state();
  const auto* const sequence = std::any_cast<SequenceLayout>(&state.content);
  const bool built = !state.built_for.empty() || std::any_cast<GraphLayout>(&state.content) != nullptr ||
                     (sequence != nullptr && sequence->input);
  const bool changed = has_changed(state);
  if ((built && !changed) || makes_weights_of(config_text(model), state)) return;
  if (!changed) fail_unbuilt(where);
  fail<ValueError>(where, "{}", no_whole_call);
}

}  // namespace

std::string ModelFile::to_json(const Model& model) {
  std::string text = config_text(model);
  check_calls(Json::parse(text), text.size(), "[save]");
  return text;
}

KerasModelFiles& keras_model_files() {
  static KerasModelFiles files;
  return files;
}

void ModelFile::save(Model& model, const std::string& path, const SaveOptions& options) {
  if (path.empty()) fail<FileError>(label_of(*model.state()), "save: the path must not be empty");
  const std::string where = label_of_file(path);
  const bool keras = has_suffix(path, ".keras");
  if (!keras) check_suffix(path, FileKind::safetensors, where, ".mezzo or .keras, or have a suffix of its own");
  if (!options.overwrite && std::filesystem::exists(path)) {
    fail<FileError>(where, "the file must not exist with overwrite = false; it does");
  }
  std::optional<IdleScope> idle(std::in_place, model, false);
  const bool functional = std::any_cast<GraphLayout>(&model.state()->content) != nullptr;
  if (!functional && !model.state()->called && file_weights(*model.state()).weights.empty()) {
    fail_unbuilt(where);
  }
  if (!functional) require_whole_call(*model.state(), where);
  require_same_weights(model, where);
  const bool compiled = options.compile && model.compiled_.has_value();
  if (keras) return keras_model_files().save(model, path, compiled, idle);
  Metadata metadata{{"format", file_formats::model}, {"format_version", version}};
  metadata[config] = config_text(model);
  // The model's own policy: the policy of a Trainer, an autocast() or a container around its last run is not saved.
  const Policy effective = model.state()->policy.inherits() ? dtype_policy() : model.state()->policy;
  if (!effective.inherits() && effective.map() == nullptr && effective.by_op() == nullptr) {
    metadata[policy] = effective.name();
  }
  require_calibrated(*model.state(), where, "save");
  if (const std::string forms = quantization_text(*model.state()); !forms.empty()) metadata[quantization] = forms;
  if (compiled) {
    try {
      metadata[compile] = text_of_config(write_compile(*model.compiled_, model));
    } catch (const ValueError& error) {
      fail<ValueError>(where,
                       "what compile() was given can't be saved: {}. Save without it by {{.compile = false}} and "
                       "call compile() after loading",
                       error.what());
    }
  }
  if (compiled) parse_config(metadata[compile], where);
  const bool trained = compiled && training_state(model).configured;
  CheckpointContent content = collect_checkpoint(model, {}, trained, false);
  content.metadata.merge(metadata);
  const std::string& layers = content.metadata[config];
  std::uint64_t bytes = layers.size();
  for (const auto& entry : content.tensors) bytes += entry.second.bytes();
  check_calls(Json::parse(layers), bytes, where);
  idle.reset();  // the tensors are copies, by copy on write
  save_safetensors(path, content.tensors, content.metadata);
}

Any<Model> ModelFile::load(const std::string& path, const LoadModelOptions& options) {
  const std::string where = label_of_file(path);
  { const OpenFile readable(path, where); }
  const FileKind kind = check_kind(path, {FileKind::safetensors, FileKind::keras, FileKind::hdf5}, where,
                                   "a model that Model::save() wrote (.mezzo), or a model of Keras (.keras, .h5)");
  if (kind == FileKind::keras || kind == FileKind::hdf5) return keras_model_files().load(path, options);
  const SafetensorsFile file(path);
  check_format(file, where);
  return with_file_errors(where, [&] {
    const Json json = parse_config(metadata_text(file, config), where);
    const Policy otherwise = metadata_text(file, policy);
    std::optional<Any<Model>> made;
    {
      const std::uint64_t bytes = config_and_weights(file);
      check_calls(json, bytes, where);
      const LayerWeightBudget weights(weight_elements(file));
      const NodeBudget nodes(most_ops(bytes));
      made = read_model(json, options.dtype, otherwise);
    }
    Model& model = **made;
    quantize_by_text(*model.state(), metadata_text(file, quantization), where);
    const std::string compile_text = metadata_text(file, compile);
    const bool compiles = options.compile && !compile_text.empty();
    if (compiles) model.compile(read_compile(parse_config(compile_text, where), model));
    if (compiles && has_training(file)) {
      const Checkpoint checkpoint(file);
      StepRunner runner(model, {});
      checkpoint.restore(runner);
    } else {
      restore_weights(file, model, where);
    }
    return *made;
  });
}

void fail_other_model(const std::string& path) {
  fail<ValueError>(label_of_file(path),
                   "the file must have a model of the class that load_model() names; it has another: "
                   "use load_model() without a class");
}

}  // namespace detail

void Model::save(const std::string& path, const SaveOptions& options) { detail::ModelFile::save(*this, path, options); }

std::string Model::to_json() const { return detail::ModelFile::to_json(*this); }

Any<Model> load_model(const std::string& path, const LoadModelOptions& options) {
  return detail::ModelFile::load(path, options);
}

Any<Model> model_from_json(const std::string& text, const ModelFromJsonOptions& options) {
  try {
    const detail::Json json = detail::parse_config(text, "[model_from_json]");
    if (json.contains("module") || json.contains("keras_version")) {
      return detail::keras_model_files().from_json(json, options);
    }
    detail::check_calls(json, text.size(), "[model_from_json]");
    const detail::NodeBudget nodes(detail::most_ops(text.size()));
    return detail::read_model(json, options.dtype, {});
  } catch (const detail::Json::exception& error) {
    fail<ValueError>("[model_from_json]", "the config is malformed: {}", error.what());
  }
}

}  // namespace mezzo
