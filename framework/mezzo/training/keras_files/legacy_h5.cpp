#include <mezzo/training/keras_files/legacy_h5.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/training/keras_files/config_to_model.hpp>
#include <mezzo/training/keras_files/objects_in.hpp>
#include <mezzo/training/keras_files/weight_groups.hpp>

namespace mezzo::detail {
namespace {

/// Group of the layers' groups: the root of a file of weights.
std::string weights_group(const Hdf5File& file) { return file.has_group("model_weights") ? "model_weights" : ""; }

std::string joined(const std::string& group, const std::string& name) {
  return group.empty() ? name : group + "/" + name;
}

/// A list of texts, which Keras splits if it is long: "layer_names0", "layer_names1", ...
std::optional<std::vector<std::string>> long_texts(const Hdf5File& file, const std::string& group,
                                                   const std::string& attribute) {
  if (auto all = file.texts(group, attribute)) return all;
  std::optional<std::vector<std::string>> all;
  for (int i = 0;; ++i) {
    const auto part = file.texts(group, fmt::format("{}{}", attribute, i));
    if (!part) return all;
    if (!all) all.emplace();
    all->insert(all->end(), part->begin(), part->end());
  }
}

std::optional<std::string> one_text(const Hdf5File& file, const char* attribute) {
  const auto texts = file.texts("", attribute);
  if (!texts || texts->size() != 1) return {};
  return texts->front();
}

/// Weights of a layer in Keras 2's order: those that are trained, then the others.
std::vector<Variable> legacy_variables(const Shared<LayerState>& layer) {
  const LayerHandle handle(layer, "", std::nullopt);
  std::vector<Variable> all = handle.trainable_weights();
  for (const Variable& other : handle.non_trainable_weights()) all.push_back(other);
  return all;
}

std::vector<KerasNumbers> match_layer(const Shared<LayerState>& layer, const Hdf5File& file, const std::string& group,
                                      const std::vector<std::string>& names) {
  const std::vector<Variable> variables = legacy_variables(layer);
  if (names.size() != variables.size()) {
    fail<FileError>(file.where(), "the layer \"{}\" of the file must have {} weights, as {}; got {}",
                    printable_name(group), variables.size(), layer->kind, names.size());
  }
  std::vector<KerasNumbers> out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string path = joined(group, names[i]);
    const Hdf5Array* const array = file.find(path);
    if (array == nullptr || array->shape != variables[i].shape()) {
      fail<FileError>(file.where(), "array \"{}\" must have shape {}; got {}", printable_name(path),
                      variables[i].shape(), array == nullptr ? "none" : fmt::format("{}", array->shape));
    }
    out.push_back({variables[i], path});
  }
  return out;
}

}  // namespace

bool has_legacy_weights(const Hdf5File& file) {
  return long_texts(file, weights_group(file), "layer_names").has_value();
}

void load_legacy_weights(const LayerState& model, const Hdf5File& file) {
  const std::string root = weights_group(file);
  const auto names = long_texts(file, root, "layer_names");
  if (!names) fail<FileError>(file.where(), "must have the attribute \"layer_names\", as Keras 2 writes it; got none");
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const std::string& name : *names) {
    const std::string group = joined(root, name);
    const auto weights = long_texts(file, group, "weight_names");
    if (weights && !weights->empty()) groups.emplace_back(group, *weights);
  }
  std::vector<Shared<LayerState>> layers;
  for (const Shared<LayerState>& layer : listed_layers(model, LayerListing::as_declared)) {
    if (!legacy_variables(layer).empty()) layers.push_back(layer);
  }
  if (layers.size() != groups.size()) {
    fail<FileError>(file.where(), "the file must have weights for {} layers; got {}", layers.size(), groups.size());
  }
  std::vector<KerasNumbers> all;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    for (KerasNumbers& one : match_layer(layers[i], file, groups[i].first, groups[i].second)) {
      all.push_back(std::move(one));
    }
  }
  for (const KerasNumbers& one : all) one.variable.assign(numbers_for(one, file));
}

Any<Model> load_legacy_model(const std::string& path, const LoadModelOptions& options, const std::string& where) {
  const Hdf5File file(path, where);
  const auto text = one_text(file, "model_config");
  if (!text) {
    fail<FileError>(where, "must have the attribute \"model_config\", as model.save() of Keras 2 writes it; got none{}",
                    has_legacy_weights(file) || file.has_group("layers") ? " (a weight file: use load_weights)" : "");
  }
  Any<Model> made = model_of_keras_config(parse_config(*text, where), file, options, where);
  Model& model = *made;
  load_legacy_weights(*model.state(), file);
  const auto training = one_text(file, "training_config");
  if (!options.compile || !training) return made;
  compile_by_keras_config(model, parse_config(*training, where));
  if (file.has_group("optimizer_weights")) {
    warn(fmt::format("{} the optimizer starts anew: its state in an .h5 file is not read", where));
  }
  return made;
}

}  // namespace mezzo::detail
