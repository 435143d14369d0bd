#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/check_path.hpp>
#include <mezzo/io/safetensors.hpp>
#include <mezzo/models/pretrained/adapter_config_file.hpp>
#include <mezzo/models/pretrained/adapter_files.hpp>
#include <mezzo/models/pretrained/adapter_modules.hpp>
#include <mezzo/models/pretrained/folder_files.hpp>
#include <mezzo/nn/weight_access.hpp>

namespace mezzo {
namespace {

using detail::AdapterModule;
using detail::PeftConfig;

/// A module with its tensors in the file.
struct FoundModule {
  const AdapterModule* module = nullptr;
  std::string name;  ///< of the file
  const TensorEntry *a = nullptr, *b = nullptr;
};

std::string adapter_file(const std::string& folder, const char* name, const std::string& where) {
  detail::check_path(folder, where);
  std::string path = detail::file_in(folder, name);
  if (detail::is_file(path)) return path;
  std::error_code ignored;
  const std::string need = fmt::format("must be a folder with {} (names of the Hub are not downloaded)", name);
  if (folder.empty()) detail::fail_missing(folder, where);
  if (!std::filesystem::exists(folder, ignored)) fail<FileError>(where, "no such file or directory; it {}", need);
  fail<FileError>(where, "{}; {}", need, std::filesystem::is_directory(folder, ignored) ? "it has none" : "got a file");
}

/// Modules by all names that a file may have.
std::map<std::string, const AdapterModule*> by_name(const std::vector<AdapterModule>& modules) {
  std::map<std::string, const AdapterModule*> out;
  for (const AdapterModule& module : modules) {
    for (const std::string& name : module.names) out.emplace(name, &module);
  }
  return out;
}

/// Pairs the tensors of a file with modules.
class Pairing {
 public:
  explicit Pairing(const std::vector<AdapterModule>& modules) : modules_(modules), known_(by_name(modules)) {}

  std::vector<FoundModule> pair(const SafetensorsFile& file, const PeftConfig& config) {
    for (const TensorEntry& entry : file.entries()) add(entry);
    for (const FoundModule& one : found_) check(one, config);
    if (found_.empty()) faults.add("no tensors of adapters");
    if (config.all_targets) check_missing(config);
    return std::move(found_);
  }

  detail::Findings faults;

 private:
  void add(const TensorEntry& entry) {
    const std::string prefix = detail::peft_prefix;
    for (const char letter : {'A', 'B'}) {
      for (const std::string& ending :
           {fmt::format(".lora_{}.weight", letter), fmt::format(".lora_embedding_{}", letter)}) {
        const std::size_t ends = prefix.size() + ending.size();
        if (entry.name.size() <= ends || entry.name.rfind(prefix, 0) != 0 ||
            entry.name.compare(entry.name.size() - ending.size(), ending.size(), ending) != 0) {
          continue;
        }
        return add(entry, entry.name.substr(prefix.size(), entry.name.size() - ends), ending, letter);
      }
    }
    faults.add(fmt::format("unexpected tensor \"{}\"", entry.name));
  }

  void add(const TensorEntry& entry, const std::string& name, const std::string& ending, char letter) {
    const auto known = known_.find(name);
    if (known == known_.end() || known->second->ending(letter) != ending) {
      faults.add(fmt::format("tensor \"{}\" belongs to no layer of the model that can have such adapters", entry.name));
      return;
    }
    const auto same = [&](const FoundModule& one) { return one.module == known->second; };
    auto place = std::find_if(found_.begin(), found_.end(), same);
    if (place == found_.end()) place = found_.insert(found_.end(), {.module = known->second, .name = name});
    (letter == 'A' ? place->a : place->b) = &entry;
    if (place->name != name) faults.add(fmt::format("tensor \"{}\" is a second one of its layer", entry.name));
  }

  void check(const FoundModule& one, const PeftConfig& config) {
    const std::string name = detail::peft_prefix + one.name;
    const detail::Adapters& adapters = *one.module->kernel.variable.state()->adapters;
    const std::int64_t rank = config.rank_of(one.name), in = element_count(adapters.inputs);
    const auto check_tensor = [&](const TensorEntry* entry, char letter, const Shape& shape) {
      if (entry == nullptr) {
        faults.add(fmt::format("missing tensor \"{}{}\"", name, one.module->ending(letter)));
        return;
      }
      faults.add(detail::dtype_fault(*entry, DType::float32));
      faults.add(detail::shape_fault(*entry, shape));
    };
    check_tensor(one.a, 'A', {rank, in});
    check_tensor(one.b, 'B', {adapters.outputs, rank});
    if (config.all_targets && !config.is_target(one.name)) {
      faults.add(fmt::format("\"{}\" has adapters, but is none of target_modules", one.name));
    }
  }

  void check_missing(const PeftConfig& config) {
    for (const AdapterModule& module : modules_) {
      const bool found =
          std::any_of(found_.begin(), found_.end(), [&](const FoundModule& one) { return one.module == &module; });
      if (found || !config.is_target(module.names.front())) continue;
      faults.add(
          fmt::format("missing tensor \"{}{}{}\"", detail::peft_prefix, module.names.front(), module.ending('A')));
    }
  }

  const std::vector<AdapterModule>& modules_;
  std::map<std::string, const AdapterModule*> known_;
  std::vector<FoundModule> found_;
};

/// Numbers of A or B in the variable's layout.
Tensor numbers_of(const SafetensorsFile& file, const TensorEntry& entry, const Shape& shape) {
  return detail::transposed_matrix(file.read(entry.name)).reshape(shape);
}

}  // namespace

void load_adapter(const Model& model, const std::string& folder, const LoadAdapterOptions& options) {
  const std::string where = fmt::format("[load_adapter \"{}\"]", folder);
  const std::string config_path = adapter_file(folder, "adapter_config.json", where);
  const std::string config_where = fmt::format("[load_adapter \"{}\"]", config_path);
  const PeftConfig config = detail::read_peft_config(detail::read_json_file(config_path, config_where), config_where);
  const SafetensorsFile file(adapter_file(folder, "adapter_model.safetensors", where));
  if (model.weights().empty() && !model.state()->called) {
    fail<ValueError>(where, "the model must be built, by build() or a call; got one without weights");
  }
  const detail::WeightAccess access(model.weights(), where, "load_adapter");
  const std::vector<AdapterModule> modules = detail::adapter_modules(model);
  Pairing pairing(modules);
  const std::vector<FoundModule> found = pairing.pair(file, config);
  if (pairing.faults.any()) {
    fail<FileError>(where, "the adapters do not fit the model: {}", pairing.faults.text());
  }
  for (const FoundModule& one : found) {
    detail::check_new_adapter({one.module->path, one.module->layer}, options.name, where);
    for (const TensorEntry* entry : {one.a, one.b}) file.check(entry->name);
  }
  std::vector<detail::AdapterPlan> plans;
  for (const FoundModule& one : found) {
    plans.push_back({.name = options.name,
                     .rank = config.rank_of(one.name),
                     .alpha = config.alpha_of(one.name),
                     .use_rslora = config.use_rslora,
                     .dropout = config.dropout,
                     .a_initializer = "zeros",
                     .b_initializer = "zeros"});
    detail::check_plan(plans.back(), where);
  }
  std::vector<std::pair<Tensor, Tensor>> numbers;
  for (const FoundModule& one : found) {
    const detail::Adapters& adapters = *one.module->kernel.variable.state()->adapters;
    Shape of_a = adapters.inputs;
    of_a.push_back(one.a->shape[0]);
    numbers.emplace_back(numbers_of(file, *one.a, of_a), numbers_of(file, *one.b, {one.b->shape[1], adapters.outputs}));
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    detail::LayerState& layer = *found[i].module->layer;
    detail::add_adapter(layer, plans[i], where);
    const detail::Adapter& added = detail::adapters_of(layer)->all.back();
    added.a->assign(numbers[i].first);
    added.b->assign(numbers[i].second);
  }
  for (detail::Adapters* const adapters : detail::all_adapters(model.state())) adapters->activate(options.name);
  detail::freeze_others(*model.state(), *detail::adapters_of(*found.front().module->layer));
}

}  // namespace mezzo
