#include <mezzo/models/pretrained/from_pretrained.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/output.hpp>
#include <mezzo/core/pattern.hpp>
#include <mezzo/models/pretrained/folder_files.hpp>
#include <mezzo/models/pretrained/folder_tokenizer.hpp>
#include <mezzo/models/pretrained/pretrained_class.hpp>
#include <mezzo/nn/weight_budget.hpp>
#include <mezzo/nn/weight_files.hpp>
#include <mezzo/nn/weight_matching.hpp>

namespace mezzo::detail {
namespace {

/// Weights of a new head and of a config's extra rows, beyond those of the folder.
constexpr std::int64_t spare_weights = std::int64_t{1} << 22U;

/// A folder while it is read.
struct OpenFolder {
  std::string path, where, config_where;
  Json config;
  const PretrainedClass* kind;
  WeightSource weights;
};

OpenFolder open_folder(const std::string& path, const std::type_info* type) {
  const std::string where = fmt::format("[from_pretrained \"{}\"]", path);
  require_folder(path, where);
  const std::string config_path = file_in(path, "config.json");
  const std::string config_where = fmt::format("[from_pretrained \"{}\"]", config_path);
  Json config = read_json_file(config_path, config_where);
  const PretrainedClass& kind = class_of_folder(config, config_where, type);
  LoadWeightsOptions names;
  names.rename = kind.names.read;
  return {path,         where,
          config_where, std::move(config),
          &kind,        WeightSource(weights_in(path, where), names, where, kind.names.convert)};
}

std::int64_t elements_of(const WeightSource& weights) {
  std::int64_t count = 0;  // the sizes of the files bound it
  for (const TensorEntry& entry : weights.entries()) count += element_count(entry.shape);
  return count;
}

/// End of errors about sizes that may come from a key that config.json lacks.
std::string text_of_defaults(const ConfigFields& fields) {
  if (fields.default_sizes().empty()) return {};
  return fmt::format("; config.json lacks sizes, for which transformers' defaults stand: {}",
                     fmt::join(fields.default_sizes(), ", "));
}

/// A model that was built, and the end of errors about its sizes.
struct BuiltModel {
  Any<Model> model;
  std::string defaults;
};

/// Makes the model of a config and builds it. Its weights are zeros under a LayerWeightBudget.
BuiltModel build_model(const OpenFolder& folder, const FromPretrainedOptions& options, PretrainedReport* report) {
  ConfigFields fields(folder.config, folder.config_where, options,
                      static_cast<std::int64_t>(folder.weights.entries().size()));
  try {
    Any<Model> model = folder.kind->make(fields, options);
    fields.check_options(folder.kind->name);
    if (report != nullptr) {
      report->unknown_keys = fields.unknown_keys();
      report->labels = fields.label_names();
    }
    model->build(folder.kind->input(*model));
    return {std::move(model), text_of_defaults(fields)};
  } catch (const FileError&) {
    throw;
  } catch (const MemoryError&) {
    throw;
  } catch (const Error& error) {
    const std::string text = error.what();
    if (text.rfind(folder.config_where, 0) == 0) throw;
    fail<FileError>(folder.config_where, "{}{}", text, text_of_defaults(fields));
  }
}

/// Throws for weights that don't fit, except heads.
void check_fit(const OpenFolder& folder, const WeightMatching& matching, const FromPretrainedOptions& options,
               const std::string& defaults) {
  const Pattern heads(folder.kind->names.heads.empty() ? "^$" : folder.kind->names.heads);
  const auto is_head = [&](const std::string& name) { return !options.strict && heads.is_found_in(name); };
  Findings faults = matching.contradictions;
  for (const std::string& name : matching.report.missing_keys) {
    if (!is_head(name)) faults.add(fmt::format("missing tensor \"{}\"", name));
  }
  for (const std::string& name : matching.report.unexpected_keys) {
    if (!is_head(name)) faults.add(fmt::format("unexpected tensor \"{}\"", name));
  }
  if (!options.ignore_mismatched_sizes) faults.add(matching.shapes);
  faults.add(matching.dtypes);
  if (!faults.any()) return;
  fail<FileError>(folder.weights.label(), "does not fit {} with the sizes of config.json: {}{}", folder.kind->name,
                  faults.text(), defaults);
}

void warn_of(const OpenFolder& folder, const PretrainedReport& report) {
  std::vector<std::string> fresh = report.weights.missing_keys;
  fresh.insert(fresh.end(), report.weights.mismatched_keys.begin(), report.weights.mismatched_keys.end());
  Findings findings;
  for (const std::string& name : fresh) findings.add(fmt::format("\"{}\" is new", name));
  for (const std::string& name : report.weights.unexpected_keys) findings.add(fmt::format("\"{}\" is left out", name));
  if (findings.any()) warn(fmt::format("{} weights: {}", folder.where, findings.text()));
  if (!report.unknown_keys.empty()) {
    warn(fmt::format("{} unknown keys, which are ignored: {}", folder.config_where,
                     fmt::join(report.unknown_keys, ", ")));
  }
}

}  // namespace

Pretrained<Any<Model>> read_pretrained(const std::string& path, const FromPretrainedOptions& options,
                                       const std::type_info* type) {
  const OpenFolder folder = open_folder(path, type);
  PretrainedReport report;
  const auto build_within_budget = [&] {
    const LayerWeightBudget budget(2 * elements_of(folder.weights) + spare_weights);
    return build_model(folder, options, &report);
  };
  auto [model, defaults] = build_within_budget();
  if (options.strict && !report.unknown_keys.empty()) {
    fail<FileError>(folder.config_where, "strict: keys must be known; got {}", fmt::join(report.unknown_keys, ", "));
  }
  const FileWeights expected = file_weights(*model->state());
  const WeightMatching matching = match_weights(folder.weights, expected);
  check_fit(folder, matching, options, defaults);
  const bool has_new = !matching.report.missing_keys.empty() || !matching.report.mismatched_keys.empty();
  if (has_new) model = build_model(folder, options, nullptr).model;  // with initial values
  report.weights = assign_weights(*model->state(), folder.where, folder.weights, {.strict = false});
  report.config = folder.config.dump(2);
  warn_of(folder, report);
  std::optional<Tokenizer> tokenizer;
  if (options.tokenizer) tokenizer = tokenizer_in(path, folder.kind->has_word_pieces);
  return {std::move(model), std::move(tokenizer), std::move(report)};
}

}  // namespace mezzo::detail
