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

/// A layer with the group of its weights in the file.
struct LegacyLayer {
  Shared<LayerState> layer;
  std::string group;
  std::vector<std::string> names;  ///< of the weights
};

/// Adds the numbers of a layer, or what doesn't fit.
void match_layer(const LegacyLayer& one, const Hdf5File& file, KerasMatch& match, Findings& faults) {
  const std::vector<Variable> variables = legacy_variables(one.layer);
  if (one.names.size() != variables.size()) {
    match.report.mismatched_keys.push_back(one.group);
    faults.add(fmt::format("the layer \"{}\" of the file must have {} weights, as {}; got {}",
                           printable_name(one.group), variables.size(), one.layer->kind, one.names.size()));
    return;
  }
  std::vector<KerasNumbers> numbers;
  for (std::size_t i = 0; i < one.names.size(); ++i) {
    const std::string path = joined(one.group, one.names[i]);
    const Hdf5Array* const array = file.find(path);
    if (array != nullptr && array->shape == variables[i].shape()) {
      numbers.push_back({variables[i], path});
      continue;
    }
    (array == nullptr ? match.report.missing_keys : match.report.mismatched_keys).push_back(path);
    faults.add(fmt::format("array \"{}\" must have shape {}; got {}", printable_name(path), variables[i].shape(),
                           array == nullptr ? "none" : fmt::format("{}", array->shape)));
  }
  if (numbers.size() < variables.size()) return;
  match.numbers.insert(match.numbers.end(), numbers.begin(), numbers.end());
}

}  // namespace

bool has_legacy_weights(const Hdf5File& file) {
  return long_texts(file, weights_group(file), "layer_names").has_value();
}

LoadWeightsReport load_legacy_weights(const LayerState& model, const Hdf5File& file, bool skip_mismatch) {
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
  KerasMatch match;
  Findings faults;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    match_layer({layers[i], groups[i].first, groups[i].second}, file, match, faults);
  }
  if (skip_mismatch) {
    report_skipped(faults, !match.numbers.empty(), file);
  } else if (faults.any()) {
    fail<FileError>(file.where(), "{}", faults.text());
  }
  assign_keras_weights(match.numbers, file);
  return std::move(match.report);
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
