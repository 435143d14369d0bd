#include <mezzo/nn/quantize_weights.hpp>

#include <algorithm>
#include <utility>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/quantization.hpp>
#include <mezzo/precision/policy_map.hpp>

namespace mezzo {
namespace {

void add_places(detail::LayerState& layer, const std::string& path, std::vector<detail::PolicyLevel> levels,
                std::vector<detail::LayerWithPolicy>& out) {
  if (!layer.policy.inherits()) levels.push_back({.policy = layer.policy, .path = path});
  const auto known = [&](const detail::LayerWithPolicy& place) { return place.layer == &layer; };
  if (std::any_of(out.begin(), out.end(), known)) return;
  out.push_back({&layer, path, detail::policy_at(levels, path)});
  for (const auto& child : layer.children) {
    add_places(*child.second, path.empty() ? child.first : path + "/" + child.first, levels, out);
  }
}

Variable side_weight(const Variable& weight, const char* suffix) {
  Variable out(weight.name() + suffix);
  detail::VariableState& state = *out.state();
  const std::string& file = weight.state()->file_name;
  if (!file.empty()) state.file_name = file + suffix;
  state.trainable = false;
  state.autocast = false;
  state.fixed_dtype = true;
  state.of_codes = true;
  state.policy_version = weight.state()->policy_version;
  return out;
}

}  // namespace

std::vector<detail::LayerWithPolicy> detail::layers_with_policies(LayerState& root) {
  std::vector<LayerWithPolicy> out;
  add_places(root, "", {{.policy = dtype_policy(), .path = "", .of_layer = false}}, out);
  return out;
}

bool detail::can_be_quantized(const Variable& weight) { return !weight.state()->quantizable.inputs.empty(); }

detail::QuantizedForm detail::form_of(const Policy& policy) {
  return {policy.quantization_mode(), policy.block_size(), policy.quantized_inputs()};
}

void detail::quantize_weight(LayerState& layer, const Variable& weight, const QuantizedForm& form) {
  VariableState& state = *weight.state();
  if (!can_be_quantized(weight) || weight.quantized()) return;
  auto quantization = std::make_shared<Quantization>();
  quantization->form = form;
  quantization->shape = weight.shape();
  quantization->axes = state.quantizable;
  std::vector<Variable> added{side_weight(weight, "_scale")};
  quantization->scale = added.back().state();
  if (form.block_size > 0) {
    added.push_back(side_weight(weight, "_zero"));
    quantization->zero = added.back().state();
  }
  if (form.inputs == QuantizedInputs::static_int8 && !state.quantizable.table) {
    added.push_back(side_weight(weight, "_inputs_scale"));
    added.back().state()->assign(Tensor::scalar(0, DType::float32));
    quantization->inputs_scale = added.back().state();
  }
  quantize(state, std::move(quantization));
  layer.weights.insert(layer.weights.end(), added.begin(), added.end());
}

void detail::quantize_own_weights(LayerState& layer, const QuantizedForm& form) {
  const std::vector<Variable> own = layer.weights;  // the scales are added to the list
  for (const Variable& weight : own) quantize_weight(layer, weight, form);
}

void detail::quantize_by_policies(LayerState& root) {
  for (const LayerWithPolicy& place : layers_with_policies(root)) {
    if (place.policy.quantization_mode() == QuantizationMode::none) continue;
    quantize_own_weights(*place.layer, form_of(place.policy));
  }
}

void detail::require_same_quantization(const LayerState& layer, const Policy& policy, const std::string& label) {
  if (layer.policy.quantization_mode() == QuantizationMode::none) return;
  const bool same =
      policy.quantization_mode() != QuantizationMode::none && form_of(policy).name() == form_of(layer.policy).name();
  if (same) return;
  fail<ValueError>(label,
                   "to: the weights are quantized; the policy must be {}_from_ and the name of another one; got {}",
                   form_of(layer.policy).name(), policy.name());
}

void detail::require_calibrated(const LayerState& root, const std::string& where, const char* call) {
  for (const Variable& weight : root.weights) {
    const auto& form = weight.state()->quantization;
    if (!form || form->inputs_scale.get() == nullptr || form->inputs_scale->value.item() != 0) continue;
    fail<ValueError>(where, "{}: static activations of {} need calibrate() first", call, weight.name());
  }
  for (const auto& child : root.children) {
    require_calibrated(*child.second, where.empty() ? child.first : where, call);
  }
}

}  // namespace mezzo
