#include <mezzo/nn/lora.hpp>

#include <algorithm>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/nn/adapters.hpp>
#include <mezzo/nn/layer_label.hpp>
#include <mezzo/nn/weight_access.hpp>

namespace mezzo {
namespace {

using detail::Adapter;
using detail::Adapters;
using detail::LayerState;
using detail::PlacedLayer;

std::string label_of(const Layer& layer) { return detail::label_of(*layer.state()); }

std::string label_of(const Layer& layer, const char* call) { return fmt::format("{} {}:", label_of(layer), call); }

/// Layers with adapters. Throws if there are none, or inside a step.
std::vector<PlacedLayer> adapted_layers(const Layer& layer, const char* call) {
  const std::string where = label_of(layer, call);
  if (Trace::current() != nullptr) fail<ValueError>(where, "must be called between steps; got a call inside one");
  std::vector<PlacedLayer> out;
  for (PlacedLayer& one : detail::layers_below(layer.state())) {
    if (detail::adapters_of(*one.layer) != nullptr) out.push_back(std::move(one));
  }
  if (out.empty()) fail<ValueError>(where, "the layer must have adapters; got none (call enable_lora() first)");
  return out;
}

void require_name(const Layer& layer, const char* call, const std::string& name) {
  const std::vector<std::string> names = adapter_names(layer);
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  fail_unknown(label_of(layer, call), "adapters", name, names);
}

void forget(LayerState& layer, const Adapter& adapter) {
  auto& all = layer.weights;
  all.erase(
      std::remove_if(all.begin(), all.end(),
                     [&](const Variable& one) { return one.id() == adapter.a.get() || one.id() == adapter.b.get(); }),
      all.end());
}

/// Removes adapters, or all with an empty name.
void remove_adapters(LayerState& layer, const std::string& name) {
  const Variable kernel = *detail::adaptable_kernel(layer);
  Adapters& adapters = *kernel.state()->adapters;
  std::vector<Adapter> kept;
  for (const Adapter& one : adapters.all) {
    if (name.empty() || one.name == name) {
      forget(layer, one);
    } else {
      kept.push_back(one);
    }
  }
  adapters.all = kept;
  if (!kept.empty()) return;
  adapters.active = "";
  // A weight that was quantized meanwhile stays frozen.
  if (std::exchange(adapters.froze_kernel, false)) kernel.state()->trainable = !kernel.quantized();
  for (const auto& weight : std::exchange(adapters.frozen, {})) weight->trainable = !weight->quantization;
}

}  // namespace

std::vector<std::string> adapter_names(const Layer& layer) {
  std::vector<std::string> out;
  for (const Adapters* const adapters : detail::all_adapters(layer.state())) {
    for (const Adapter& one : adapters->all) {
      if (std::find(out.begin(), out.end(), one.name) == out.end()) out.push_back(one.name);
    }
  }
  return out;
}

std::string active_adapter(const Layer& layer) {
  for (const Adapters* const adapters : detail::all_adapters(layer.state())) {
    if (!adapters->active.empty()) return adapters->active;
  }
  return "";
}

void set_adapter(const Layer& layer, const std::string& name) {
  const std::vector<PlacedLayer> adapted = adapted_layers(layer, "set_adapter");
  const detail::WeightAccess access(layer.weights(), label_of(layer), "set_adapter");
  require_name(layer, "set_adapter", name);
  for (const PlacedLayer& one : adapted) {
    Adapters& adapters = *detail::adapters_of(*one.layer);
    if (!adapters.merged || adapters.active == name) continue;
    fail<ValueError>(label_of(layer, "set_adapter"), "adapters must not be merged; call unmerge_adapter() first");
  }
  for (const PlacedLayer& one : adapted) detail::adapters_of(*one.layer)->activate(name);
}

void delete_adapter(const Layer& layer, const std::string& name) {
  const std::vector<PlacedLayer> adapted = adapted_layers(layer, "delete_adapter");
  const std::vector<Variable> weights = layer.weights();  // they live as long as their locks
  const detail::WeightAccess access(weights, label_of(layer), "delete_adapter");
  require_name(layer, "delete_adapter", name);
  for (const PlacedLayer& one : adapted) {
    if (!detail::adapters_of(*one.layer)->merged) continue;
    fail<ValueError>(label_of(layer, "delete_adapter"), "adapters must not be merged; call unmerge_adapter() first");
  }
  const bool was_active = active_adapter(layer) == name;
  for (const PlacedLayer& one : adapted) remove_adapters(*one.layer, name);
  const std::vector<std::string> left = adapter_names(layer);
  if (!was_active || left.empty()) return;
  for (Adapters* const adapters : detail::all_adapters(layer.state())) adapters->activate(left.front());
}

void merge_adapter(const Layer& layer) {
  const std::vector<PlacedLayer> adapted = adapted_layers(layer, "merge_adapter");
  const detail::WeightAccess access(layer.weights(), label_of(layer), "merge_adapter");
  for (const PlacedLayer& one : adapted) {
    const Variable& kernel = *detail::adaptable_kernel(*one.layer);
    Adapters& adapters = *kernel.state()->adapters;
    if (adapters.merged || adapters.find(adapters.active) == nullptr) continue;
    const Tensor numbers = detail::merged_numbers(kernel);
    const Variable merged(kernel.name());
    merged.assign(numbers);
    merged.state()->trainable = false;
    merged.state()->autocast = kernel.state()->autocast;
    adapters.merged = merged.state();
  }
}

void unmerge_adapter(const Layer& layer) {
  const std::vector<PlacedLayer> adapted = adapted_layers(layer, "unmerge_adapter");
  const detail::WeightAccess access(layer.weights(), label_of(layer), "unmerge_adapter");
  for (const PlacedLayer& one : adapted) detail::adapters_of(*one.layer)->merged.reset();
}

void merge_and_unload(const Layer& layer) {
  const char* const call = "merge_and_unload";
  const std::vector<PlacedLayer> adapted = adapted_layers(layer, call);
  const std::vector<Variable> weights = layer.weights();  // they live as long as their locks
  const detail::WeightAccess access(weights, label_of(layer), call);
  for (const PlacedLayer& one : adapted) {
    const Variable& kernel = *detail::adaptable_kernel(*one.layer);
    if (is_floating(kernel.dtype()) && !kernel.state()->quantization) continue;
    fail<ValueError>(
        label_of(layer, call),
        "the {} of \"{}\" must be a float to hold the sum; got {}: use merge_adapter(), which makes a copy",
        kernel.name(), one.path, kernel.dtype());
  }
  for (const PlacedLayer& one : adapted) {
    const Variable kernel = *detail::adaptable_kernel(*one.layer);
    Adapters& adapters = *kernel.state()->adapters;
    const Tensor sum = adapters.merged ? (*adapters.merged)->numbers() : detail::merged_numbers(kernel);
    adapters.merged.reset();
    kernel.assign(sum);
    remove_adapters(*one.layer, "");
  }
}

DisableAdapters::DisableAdapters(const Layer& layer) {
  for (const PlacedLayer& one : adapted_layers(layer, "DisableAdapters")) {
    kernels_.push_back(*detail::adaptable_kernel(*one.layer));
    ++kernels_.back().state()->adapters->disabled;
  }
}

DisableAdapters::~DisableAdapters() {
  for (const Variable& kernel : kernels_) --kernel.state()->adapters->disabled;
}

}  // namespace mezzo
