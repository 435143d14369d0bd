#include <algorithm>
#include <any>
#include <optional>
#include <stdexcept>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/core/pattern.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/io/safetensors.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/nn/hdf5_weights.hpp>
#include <mezzo/nn/new_numbers.hpp>
#include <mezzo/nn/quantize_weights.hpp>
#include <mezzo/nn/waiting_weights.hpp>
#include <mezzo/nn/weight_access.hpp>
#include <mezzo/nn/weight_files.hpp>
#include <mezzo/nn/weight_matching.hpp>

namespace mezzo {
namespace {

constexpr const char* version_key = "format_version";
constexpr const char* version = "1";

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

/// Reads a weight in the variable's layout and dtype. Floats for a quantized weight keep their dtype.
Tensor numbers_of(const detail::WeightMatch& match, const detail::WeightSource& file) {
  Tensor numbers = file.read(match.name);
  if (!match.second.empty()) numbers = match.weight->join_parts(numbers, file.read(match.second));
  const Variable& variable = match.weight->variable;
  if (!variable.quantized() || !is_floating(numbers.dtype())) numbers = numbers.cast(variable.dtype());
  return match.weight->from_file(numbers);
}

/// Throws for damaged data, and for numbers that can't be assigned.
void require_assignable(const detail::WeightMatch& match, const detail::WeightSource& file,
                        const detail::NewNumbers& checks) {
  const Variable& weight = match.weight->variable;
  file.check(match.name);
  if (!match.second.empty()) file.check(match.second);
  weight.state()->require_unmerged();
  if (!checks.restricts(weight)) return;
  const std::string fault = checks.fault(weight, numbers_of(match, file));
  if (!fault.empty()) fail<FileError>(file.label(), "tensor \"{}\" {}", match.name, fault);
}

detail::NewNumbers checks_of(const detail::FileWeights& all) {
  std::vector<Variable> weights;
  for (const detail::FileWeight& weight : all.weights) weights.push_back(weight.variable);
  return detail::NewNumbers(weights);
}

/// The first of some names, for an error.
std::string first_names(const std::vector<std::string>& names) {
  constexpr std::size_t most = 3;
  const std::vector<std::string> first(names.begin(), names.begin() + std::min(names.size(), most));
  const std::string more = names.size() > most ? fmt::format(" and {} more", names.size() - most) : "";
  return names.empty() ? "none" : fmt::format("\"{}\"{}", fmt::join(first, "\", \""), more);
}

/// Throws if a load that skips what doesn't fit would load nothing.
void check_any_match(const detail::WeightMatching& matching, const detail::FileWeights& all,
                     const detail::WeightSource& file, const std::string& label) {
  if (!matching.matches.empty() || all.weights.empty()) return;
  if (matching.shapes.any() || matching.dtypes.any() || matching.parts.any()) {
    detail::Findings faults = matching.shapes;
    faults.add(matching.dtypes);
    faults.add(matching.parts);
    fail<FileError>(file.label(), "no tensor fits {}: {}", label, faults.text());
  }
  std::vector<std::string> names, known;
  for (const TensorEntry& entry : file.entries()) names.push_back(entry.name);
  for (const detail::FileWeight& weight : all.weights) known.push_back(weight.name());
  fail<FileError>(file.label(), "must have a tensor of {}; no name matches: the file has {}, the layer {}", label,
                  first_names(names), first_names(known));
}

/// Adds the prefixes of names that weights can get when the layers below are built. False if rules for names hide them.
bool add_open_prefixes(const detail::LayerState& layer, const std::string& prefix, std::vector<std::string>& prefixes) {
  const bool container = std::any_cast<detail::SequenceLayout>(&layer.content) != nullptr ||
                         std::any_cast<detail::GraphLayout>(&layer.content) != nullptr;
  if (!container && !layer.called) {
    prefixes.push_back(prefix);
    return true;
  }
  if (!layer.weight_files.rename.empty() || !layer.weight_files.optional_prefix.empty()) return false;
  return std::all_of(layer.children.begin(), layer.children.end(), [&](const auto& child) {
    return add_open_prefixes(*child.second, prefix + child.first + ".", prefixes);
  });
}

/// Throws for tensors that no layer can have, whatever weights the layers that aren't built get.
void check_open_names(const detail::LayerState& layer, const detail::WeightMatching& known,
                      const detail::WeightSource& file, const LoadWeightsOptions& options, const std::string& label) {
  std::vector<std::string> prefixes, others;
  if (!add_open_prefixes(layer, "", prefixes)) return;
  for (const std::string& name : known.report.unexpected_keys) {
    const auto begins = [&](const std::string& prefix) { return name.rfind(prefix, 0) == 0; };
    if (std::none_of(prefixes.begin(), prefixes.end(), begins)) others.push_back(name);
  }
  const bool none_fits = known.matches.empty() && others.size() == known.report.unexpected_keys.size();
  if (others.empty() || (!options.strict && !none_fits)) return;
  fail<FileError>(file.label(),
                  "does not fit {}: unexpected tensors {}; names of its layers, which are not built yet, begin with {}",
                  label, first_names(others), first_names(prefixes));
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

LoadWeightsReport detail::assign_weights(const LayerState& layer, const std::string& label, const WeightSource& file,
                                         const LoadWeightsOptions& options) {
  const FileWeights all = file_weights(layer);
  WeightMatching matching = match_weights(file, all);
  Findings faults = matching.contradictions;
  if (options.strict) faults.add(matching.misfits);
  if (options.strict && !options.skip_mismatch) faults.add(matching.shapes);
  if (faults.any()) fail<FileError>(file.label(), "does not fit {}: {}", label, faults.text());
  if (!options.strict) check_any_match(matching, all, file, label);
  const NewNumbers checks = checks_of(all);
  for (const WeightMatch& match : matching.matches) require_assignable(match, file, checks);
  for (std::size_t i = 0; i < matching.matches.size(); ++i) {
    try {
      matching.matches[i].weight->variable.assign(numbers_of(matching.matches[i], file));
    } catch (const Error& error) {  // the file was changed since it was checked
      if (i == 0) throw;
      fail<FileError>("", "{}; {} of {} weights have the numbers of the file", error.what(), i,
                      matching.matches.size());
    }
  }
  if (options.strict && matching.shapes.any()) {
    Findings skipped = matching.shapes;
    skipped.add(matching.parts);
    warn(fmt::format("{} skip_mismatch skipped: {}", file.label(), skipped.text()));
  }
  return std::move(matching.report);
}

detail::WeightFileContent detail::weight_file_content(const Layer& layer, const std::string& where, const char* call) {
  const FileWeights all = weights_of(*layer.state(), where, call);
  require_calibrated(*layer.state(), where, call);
  std::vector<Tensor> values;  // share the variables' bytes until these are written to
  {
    const WeightAccess access(layer.weights(), where, call);
    for (const FileWeight& weight : all.weights) values.push_back(weight.variable.value());
  }
  WeightFileContent content{.tensors = {}, .metadata = {{"format", "pt"}, {version_key, version}}};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const FileWeight& weight = all.weights[i];
    if (weight.variable.quantized()) content.metadata[weight.form_key()] = weight.form_text();
    const Tensor in_file = weight.in_file(values[i].cast(file_dtype(values[i].dtype())));
    if (weight.parts.empty()) {
      content.tensors.emplace_back(weight.name(), in_file);
      continue;
    }
    const std::vector<Tensor> parts = weight.split_parts(in_file);
    for (std::size_t part = 0; part < parts.size(); ++part)
      content.tensors.emplace_back(weight.parts[part], parts[part]);
  }
  for (const auto& [name, number] : all.facts) content.metadata[name] = fmt::to_string(number);
  return content;
}

detail::Hdf5Weights& detail::hdf5_weights() {
  static Hdf5Weights files;
  return files;
}

void Layer::save_weights(const std::string& path, const ShardOptions& shards) const {
  if (path.empty()) fail<FileError>(label(), "save_weights: the path must not be empty");
  if (detail::has_suffix(path, ".weights.h5")) {
    if (shards.max_shard_size.bytes() > 0) {
      fail<ValueError>(label(), "save_weights: a .weights.h5 file has no shards; got max_shard_size");
    }
    detail::hdf5_weights().save(*this, path);
    return;
  }
  detail::check_suffix(path, detail::FileKind::safetensors, label(),
                       ".safetensors or .weights.h5, or have a suffix of its own");
  const detail::WeightFileContent content = detail::weight_file_content(*this, label(), "save_weights");
  save_safetensors(path, content.tensors, content.metadata, shards);
}

LoadWeightsReport Layer::load_weights(const std::string& path, const LoadWeightsOptions& options) {
  const detail::FileKind kind = detail::kind_of_file(path);
  if (kind == detail::FileKind::hdf5 || kind == detail::FileKind::keras) {
    detail::take_waiting_weights(*state_);  // a file that was loaded before
    return detail::hdf5_weights().load(*this, path, options);
  }
  const detail::WeightSource file(path, options, label());
  detail::take_waiting_weights(*state_);  // a file that was loaded before
  if (is_unbuilt(*state_)) {
    const detail::FileWeights known = detail::file_weights(*state_);
    const detail::WeightMatching matching = detail::match_weights(file, known);
    if (!matching.report.unexpected_keys.empty()) {
      check_open_names(*state_, matching, file, options, label());
      detail::keep_waiting_weights(state_, {file, options});
      return {.missing_keys = {}, .unexpected_keys = {}, .mismatched_keys = {}, .waiting = true};
    }
  }
  const detail::WeightAccess access(weights(), label(), "load_weights");
  return detail::assign_weights(*state_, label(), file, options);
}

void detail::WaitingWeights::load(const Layer& layer) const {
  const std::string label = fmt::format("[{}]", layer.name().empty() ? layer.state()->kind : layer.name());
  const LoadWeightsReport report = assign_weights(*layer.state(), label, file, options);
  if (options.strict) return;
  Findings skipped;
  for (const std::string& name : report.missing_keys) skipped.add(fmt::format("missing tensor \"{}\"", name));
  for (const std::string& name : report.unexpected_keys) skipped.add(fmt::format("unexpected tensor \"{}\"", name));
  for (const std::string& name : report.mismatched_keys) skipped.add(fmt::format("mismatched tensor \"{}\"", name));
  if (skipped.any()) warn(fmt::format("{} load_weights of {} skipped: {}", file.label(), label, skipped.text()));
}

}  // namespace mezzo
