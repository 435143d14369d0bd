#include <algorithm>
#include <optional>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/file_replacement.hpp>
#include <mezzo/io/folder_replacement.hpp>
#include <mezzo/io/safetensors.hpp>
#include <mezzo/models/pretrained/adapter_files.hpp>
#include <mezzo/models/pretrained/adapter_modules.hpp>
#include <mezzo/nn/config_json.hpp>
#include <mezzo/nn/lora.hpp>
#include <mezzo/nn/weight_access.hpp>

namespace mezzo {
namespace {

using detail::Adapter;
using detail::AdapterModule;
using detail::Json;

constexpr const char *adapter_config = "adapter_config.json", *adapter_weights = "adapter_model.safetensors";

/// A module with the adapter that is saved.
struct SavedModule {
  AdapterModule module;
  Adapter adapter;
};

std::vector<SavedModule> saved_modules(const Model& model, const std::string& given, const std::string& where) {
  const std::vector<std::string> names = adapter_names(model);
  const std::string name = given.empty() ? active_adapter(model) : given;
  if (names.empty()) fail<ValueError>(where, "the model must have adapters; got none (call enable_lora() first)");
  if (name.empty()) fail<ValueError>(where, "no adapters are active; name one of {}", fmt::join(names, ", "));
  std::vector<SavedModule> out;
  for (AdapterModule& module : detail::adapter_modules(model)) {
    const Adapter* const adapter = module.kernel.variable.state()->adapters->find(name);
    if (adapter != nullptr) out.push_back({std::move(module), *adapter});
  }
  if (!out.empty()) return out;
  fail<NameError>(where, "unknown adapters \"{}\"; valid names: {}", name, fmt::join(names, ", "));
}

/// A or B in the layout of PEFT: (rank, in) or (out, rank).
Tensor in_file(const detail::VariableState& weight) {
  const Tensor numbers = weight.numbers();
  const std::int64_t columns = numbers.shape().back();
  const Tensor matrix = numbers.cast(detail::file_dtype(numbers.dtype())).reshape({numbers.size() / columns, columns});
  return detail::transposed_matrix(matrix);
}

/// True if the base model's files have the kernel as (in, out), as Conv1D of GPT-2.
bool is_fan_in_fan_out(const AdapterModule& module) {
  return module.kernel.axes == Shape{0, 1} && module.kernel.variable.state()->file_axes == Shape{1, 0};
}

Json adapter_config_of(const std::vector<SavedModule>& modules, const SaveAdapterOptions& options) {
  const Adapter& first = modules.front().adapter;
  Json targets = Json::array(), ranks = Json::object(), alphas = Json::object();
  for (const SavedModule& one : modules) {
    const std::string& name = one.module.names.front();
    targets.push_back(name);
    if (one.adapter.rank() != first.rank()) ranks[name] = one.adapter.rank();
    if (one.adapter.alpha != first.alpha) alphas[name] = one.adapter.alpha;
  }
  const auto text_or_null = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
  return {{"peft_type", "LORA"},
          {"task_type", text_or_null(options.task_type)},
          {"base_model_name_or_path", text_or_null(options.base_model_name_or_path)},
          {"r", first.rank()},
          {"lora_alpha", first.alpha},
          {"lora_dropout", first.dropout},
          {"use_rslora", first.use_rslora},
          {"use_dora", false},
          {"bias", "none"},
          {"fan_in_fan_out", std::all_of(modules.begin(), modules.end(),
                                         [](const SavedModule& one) { return is_fan_in_fan_out(one.module); })},
          {"target_modules", targets},
          {"rank_pattern", ranks},
          {"alpha_pattern", alphas},
          {"modules_to_save", nullptr},
          {"init_lora_weights", true},
          {"inference_mode", true}};
}

/// PEFT has one dropout and one kind of scaling for all modules.
void check_common(const std::vector<SavedModule>& modules, const std::string& where) {
  const Adapter& first = modules.front().adapter;
  for (const SavedModule& one : modules) {
    if (one.adapter.dropout == first.dropout && one.adapter.use_rslora == first.use_rslora) continue;
    fail<ValueError>(where, "dropout and use_rslora must be the same in all layers; they differ in \"{}\" and \"{}\"",
                     modules.front().module.path, one.module.path);
  }
}

}  // namespace

void save_adapter(const Model& model, const std::string& folder, const SaveAdapterOptions& options) {
  const std::string where = fmt::format("[save_adapter \"{}\"]", folder);
  const std::vector<SavedModule> modules = saved_modules(model, options.name, where);
  check_common(modules, where);
  NamedTensors tensors;
  {
    const detail::WeightAccess access(model.weights(), where, "save_adapter");
    for (const SavedModule& one : modules) {
      const std::string name = detail::peft_prefix + one.module.names.front();
      tensors.emplace_back(name + one.module.ending('A'), in_file(*one.adapter.a));
      tensors.emplace_back(name + one.module.ending('B'), in_file(*one.adapter.b));
    }
  }
  detail::FolderReplacement files(folder, where);
  save_safetensors(files.file(adapter_weights), tensors, {{"format", "pt"}});
  detail::replace_file(files.file(adapter_config), adapter_config_of(modules, options).dump(2) + "\n", where);
  files.commit(adapter_config, [](const std::string& name) { return name == "adapter_model.bin"; });
}

}  // namespace mezzo
