#include <mezzo/models/pretrained/adapter_modules.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/pattern.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/models/pretrained/pretrained_class.hpp>

namespace mezzo::detail {
namespace {

constexpr const char* kernel_ending = ".weight";

/// Replacements from names of weights to those of a folder of transformers; none for other models.
std::vector<std::pair<std::string, std::string>> names_in_folder(const Model& model) {
  const auto& all = pretrained_classes();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const PretrainedClass& one) { return *one.type == typeid(model); });
  if (found == all.end()) return {};
  return found->names.written;
}

std::string module_of(const std::string& weight) {
  const std::size_t end = weight.rfind(kernel_ending);
  return end == std::string::npos ? weight : weight.substr(0, end);
}

}  // namespace

std::string AdapterModule::ending(char letter) const {
  return table() ? fmt::format(".lora_embedding_{}", letter) : fmt::format(".lora_{}.weight", letter);
}

Tensor transposed_matrix(const Tensor& matrix) {
  const OutsideTrace at_once;
  return transpose(Value(matrix), {1, 0}).tensor();
}

std::vector<AdapterModule> adapter_modules(const Model& model) {
  const auto written = names_in_folder(model);
  const FileWeights all = file_weights(*model.state());
  std::vector<AdapterModule> out;
  for (const PlacedLayer& one : layers_below(model.state())) {
    const Variable* const kernel = adaptable_kernel(*one.layer);
    if (kernel == nullptr) continue;
    const auto found = std::find_if(all.weights.begin(), all.weights.end(),
                                    [&](const FileWeight& weight) { return weight.variable.id() == kernel->id(); });
    std::string first = found->name();
    for (const auto& [expression, replacement] : written) first = Pattern(expression).replaced(first, replacement);
    AdapterModule module{.names = {module_of(first)}, .path = one.path, .layer = one.layer, .kernel = *found};
    for (const std::string& name : found->names) {
      if (module_of(name) != module.names.front()) module.names.push_back(module_of(name));
    }
    out.push_back(std::move(module));
  }
  return out;
}

}  // namespace mezzo::detail
