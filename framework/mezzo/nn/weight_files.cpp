#include <algorithm>
#include <set>
#include <stdexcept>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/core/pattern.hpp>
#include <mezzo/nn/waiting_weights.hpp>
#include <mezzo/nn/weight_access.hpp>
#include <mezzo/nn/weight_names.hpp>

namespace mezzo {
namespace {

constexpr const char* version_name = "format_version";
constexpr const char* version = "1";

// A checkpoint of a training (training/checkpoints/checkpoint.hpp) has the weights under a prefix, beside states of the
// training.
constexpr const char *checkpoint_format = "mezzo_checkpoint", *checkpoint_prefix = "model.", *checkpoint_version = "2";

/// Part of the names of a file's weights in front of those of weight files.
std::string prefix_of(const SafetensorsFile& file) {
  const auto format = file.metadata().find("format");
  return format != file.metadata().end() && format->second == checkpoint_format ? checkpoint_prefix : "";
}

struct Match {
  const detail::FileWeight* weight;
  std::string name;
  std::string second{};  ///< name of the second part of a weight in two parts; "": the weight is one tensor
};

/// Pairs weights with tensors of a file. Lists tensors that are missing, unexpected or of another dtype or shape.
class Matching {
 public:
  Matching(const SafetensorsFile& file, const detail::FileWeights& expected) : file_(file), prefix_(prefix_of(file)) {
    std::set<std::string> known;
    for (const std::string& name : expected.skipped) known.insert(prefix_ + name);
    for (const detail::FileWeight& weight : expected.weights) {
      for (const auto* names : {&weight.names, &weight.parts}) {
        for (const std::string& name : *names) known.insert(prefix_ + name);
      }
      match(weight);
    }
    for (const auto& names : expected.copies) {
      known.insert(prefix_ + names.first);
      compare(names.first, names.second);
    }
    for (const auto& [name, number] : expected.facts) {
      const auto found = file.metadata().find(prefix_ + name);
      if (found == file.metadata().end() || found->second == fmt::to_string(number)) continue;
      faults.add(fmt::format("{} must be {}; the file has {}", prefix_ + name, number, found->second));
    }
    for (const SafetensorsFile::Entry& entry : file.entries()) {
      if (entry.name.rfind(prefix_, 0) != 0) continue;  // a state of the training
      if (known.count(entry.name) > 0) continue;
      faults.add(fmt::format("unexpected tensor \"{}\"", entry.name));
      all_known = false;
    }
  }

  std::vector<Match> matches;
  detail::Findings faults, mismatches;
  bool all_known = true;  ///< false if the file has tensors without a weight

 private:
  /// Compares a tensor with the tensor that it must copy, if the file has both.
  void compare(const std::string& copy, const std::string& original) {
    const auto *first = file_.find(prefix_ + copy), *second = file_.find(prefix_ + original);
    if (first == nullptr || second == nullptr) return;
    if (first->dtype == second->dtype && file_.read(first->name).equal(file_.read(second->name))) return;
    faults.add(
        fmt::format("tensor \"{}\" must be a copy of \"{}\", whose numbers the layer uses in its place; "
                    "it has other numbers",
                    first->name, second->name));
  }

  void match(const detail::FileWeight& weight) {
    const auto found = std::find_if(weight.names.begin(), weight.names.end(),
                                    [&](const std::string& name) { return file_.find(prefix_ + name) != nullptr; });
    if (found == weight.names.end() && !weight.parts.empty()) {
      match_parts(weight);
      return;
    }
    if (found == weight.names.end()) {
      faults.add(fmt::format("missing tensor \"{}\"", prefix_ + weight.name()));
      return;
    }
    const SafetensorsFile::Entry& entry = *file_.find(prefix_ + *found);
    const std::string wrong_dtype = detail::dtype_fault(entry, weight.variable.dtype());
    const std::string wrong_shape = detail::shape_fault(entry, weight.shape());
    if (!wrong_dtype.empty()) {
      faults.add(wrong_dtype);
    } else if (!wrong_shape.empty()) {
      mismatches.add(wrong_shape);
    } else {
      matches.push_back({.weight = &weight, .name = entry.name, .second = {}});
    }
  }

  void match_parts(const detail::FileWeight& weight) {
    bool good = true;
    for (const std::string& part : weight.parts) {
      const SafetensorsFile::Entry* entry = file_.find(prefix_ + part);
      if (entry == nullptr) {
        faults.add(fmt::format("missing tensor \"{}\"", prefix_ + part));
        good = false;
        continue;
      }
      const std::string wrong_dtype = detail::dtype_fault(*entry, weight.variable.dtype());
      const std::string wrong_shape = detail::shape_fault(*entry, weight.part_shape());
      good = good && wrong_dtype.empty() && wrong_shape.empty();
      faults.add(wrong_dtype);
      if (wrong_dtype.empty()) mismatches.add(wrong_shape);
    }
    if (good) {
      matches.push_back({.weight = &weight, .name = prefix_ + weight.parts[0], .second = prefix_ + weight.parts[1]});
    }
  }

  const SafetensorsFile& file_;
  std::string prefix_;
};

std::string file_label(const std::string& path) { return fmt::format("[safetensors \"{}\"]", path); }

void check_version(const SafetensorsFile& file) {
  const auto found = file.metadata().find(version_name);
  if (found == file.metadata().end()) return;
  // The weights of a checkpoint are the same in all versions.
  const bool checkpoint = !prefix_of(file).empty() && found->second == checkpoint_version;
  if (found->second != version && !checkpoint) {
    fail<FileError>(file_label(file.path()), "format_version must be {}; got \"{}\"", version, found->second);
  }
  if (file.checksums() == SafetensorsFile::Checksums::none) {
    fail<FileError>(file_label(file.path()), "a file with format_version must have the metadata entry crc32; got none");
  }
}

detail::FileWeights weights_of(const detail::LayerState& layer, const std::string& where, const char* call) {
  detail::FileWeights all = detail::file_weights(layer);
  if (all.weights.empty() && !layer.called) {
    fail<ValueError>(where, "{} needs a layer that was built, by build() or a call; got one without weights", call);
  }
  return all;
}

/// True if a layer below was never built: it has neither weights nor layers and was not called.
bool is_unbuilt(const detail::LayerState& layer) {
  if (layer.children.empty()) return layer.weights.empty() && !layer.called;
  return std::any_of(layer.children.begin(), layer.children.end(),
                     [](const auto& child) { return is_unbuilt(*child.second); });
}

void assign_weights(const detail::LayerState& layer, const std::string& label, const SafetensorsFile& file,
                    const LoadWeightsOptions& options) {
  const detail::FileWeights all = detail::file_weights(layer);
  Matching matching(file, all);
  if (!options.skip_mismatch && matching.mismatches.any()) matching.faults.add(matching.mismatches.text());
  if (matching.faults.any()) {
    fail<FileError>(file_label(file.path()), "does not fit {}: {}", label, matching.faults.text());
  }
  std::vector<Tensor> values;
  for (const Match& match : matching.matches) {
    const DType dtype = match.weight->variable.dtype();
    Tensor numbers = file.read(match.name);
    if (!match.second.empty()) numbers = match.weight->join_parts(numbers, file.read(match.second));
    values.push_back(match.weight->from_file(numbers.cast(dtype)));
  }
  for (std::size_t i = 0; i < values.size(); ++i) matching.matches[i].weight->variable.assign(values[i]);
  if (matching.mismatches.any()) {
    detail::warn(fmt::format("{} skip_mismatch skipped: {}", file_label(file.path()), matching.mismatches.text()));
  }
}

}  // namespace

void Layer::set_weight_files(const detail::WeightFileRules& rules) {
  std::vector<std::string> patterns = rules.plain;
  for (const auto& rule : rules.rename) patterns.push_back(rule.first);
  for (const std::string& pattern : patterns) {
    try {
      const detail::Pattern compiled(pattern);
    } catch (const std::runtime_error& error) {
      fail<ValueError>(label(), "weight files: a rule must be a regular expression; got \"{}\" ({})", pattern,
                       error.what());
    }
  }
  state_->weight_files = rules;
}

void Layer::save_weights(const std::string& path) const {
  const detail::FileWeights all = weights_of(*state_, label(), "save_weights");
  std::vector<Tensor> values;  // share the variables' bytes until these are written to
  {
    const detail::WeightAccess access(weights(), label(), "save_weights");
    for (const detail::FileWeight& weight : all.weights) values.push_back(weight.variable.value());
  }
  NamedTensors tensors;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const detail::FileWeight& weight = all.weights[i];
    const Tensor in_file = weight.in_file(values[i].cast(detail::file_dtype(values[i].dtype())));
    if (weight.parts.empty()) {
      tensors.emplace_back(weight.name(), in_file);
      continue;
    }
    const std::vector<Tensor> parts = weight.split_parts(in_file);
    for (std::size_t part = 0; part < parts.size(); ++part) tensors.emplace_back(weight.parts[part], parts[part]);
  }
  Metadata metadata{{"format", "pt"}, {version_name, version}};
  for (const auto& [name, number] : all.facts) metadata[name] = fmt::to_string(number);
  save_safetensors(path, tensors, metadata);
}

void Layer::load_weights(const std::string& path, const LoadWeightsOptions& options) {
  const SafetensorsFile file(path);
  check_version(file);
  detail::take_waiting_weights(*state_);  // a file that was loaded before
  if (is_unbuilt(*state_) && !Matching(file, detail::file_weights(*state_)).all_known) {
    detail::keep_waiting_weights(state_, {file, options});
    return;
  }
  const detail::WeightAccess access(weights(), label(), "load_weights");
  assign_weights(*state_, label(), file, options);
}

void detail::WaitingWeights::load(const Layer& layer) const {
  const std::string label = fmt::format("[{}]", layer.name());
  assign_weights(*layer.state(), label, file, options);
}

}  // namespace mezzo
