#include <mezzo/nn/quantize_weights.hpp>

#include <algorithm>
#include <any>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/adapters.hpp>
#include <mezzo/graph/quantization.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/nn/image_codes.hpp>
#include <mezzo/nn/layer_label.hpp>
#include <mezzo/nn/weight_names.hpp>
#include <mezzo/ops/ops.hpp>
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

/// A variable beside the weight that no policy converts.
Variable side_variable(const Variable& weight, const std::string& name) {
  Variable out(name);
  detail::VariableState& state = *out.state();
  state.trainable = false;
  state.autocast = false;
  state.fixed_dtype = true;
  state.of_codes = true;
  state.policy_version = weight.state()->policy_version;
  return out;
}

/// The same with a name that begins with the weight's, also in files.
Variable side_weight(const Variable& weight, const char* suffix) {
  Variable out = side_variable(weight, weight.name() + suffix);
  const std::string& file = weight.state()->file_name;
  if (!file.empty()) out.state()->file_name = file + suffix;
  return out;
}

detail::DelayedScale delayed_scale(detail::LayerState& layer, const Variable& scale, const Variable& history) {
  scale.assign(Tensor::scalar(1, DType::float32));
  history.assign(Tensor({detail::DelayedScale::history_length}, DType::float32));
  layer.weights.push_back(scale);
  layer.weights.push_back(history);
  return {scale.state(), history.state()};
}

/// Prepares a kernel for products in float8, with variables in the order of Keras' files, or the bias beside it.
void prepare_for_float8(detail::LayerState& layer, const Variable& weight, const detail::QuantizedForm& form) {
  detail::VariableState& state = *weight.state();
  const bool kernel = detail::can_be_quantized(weight);
  if (state.fake || !detail::takes_form(layer, form) || (!kernel && weight.name() != "bias")) return;
  auto fake = std::make_shared<detail::FakeQuantization>();
  fake->form = form;
  fake->axes = state.quantizable;
  if (kernel) {
    const auto scale_of = [&](const char* operand) {
      const std::string name = operand;
      return delayed_scale(layer, side_variable(weight, name + "_scale"),
                           side_variable(weight, name + "_amax_history"));
    };
    detail::Float8Scales scales;
    scales.inputs = scale_of("inputs");
    scales.kernel = delayed_scale(layer, side_weight(weight, "_scale"), side_weight(weight, "_amax_history"));
    scales.outputs_grad = scale_of("outputs_grad");
    fake->float8 = scales;
  }
  state.fake = std::move(fake);
}

/// True if the inputs of the weight's products get a scale that calibrate() chooses.
bool has_static_inputs(const detail::LayerState& layer, const Variable& weight, const detail::QuantizedForm& form) {
  if (form.inputs != QuantizedInputs::static_int8 || weight.state()->quantizable.table) return false;
  if (layer.kind == "Conv2D") {
    const bool in_groups = std::any_cast<detail::ChannelGroups>(&layer.content) != nullptr;
    return !in_groups && detail::takes_image_codes(weight.shape(), form);
  }
  // Other convolutions and products of states take floats.
  static const auto* const convolutions = new std::set<std::string>{
      "Conv1D",          "Conv3D",          "Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose",
      "DepthwiseConv1D", "DepthwiseConv2D", "SeparableConv1D", "SeparableConv2D", "ConvLSTMCell"};
  return convolutions->count(layer.kind) == 0 && weight.name() != "recurrent_kernel";
}

void fake_quantize_weight(detail::LayerState& layer, const Variable& weight, const detail::QuantizedForm& form) {
  detail::VariableState& state = *weight.state();
  if (state.fake) return;
  auto fake = std::make_shared<detail::FakeQuantization>();
  fake->form = form;
  fake->axes = state.quantizable;
  if (has_static_inputs(layer, weight, form)) {
    const Variable step = side_weight(weight, detail::FileWeight::range_suffix);
    detail::VariableState& added = *step.state();
    step.assign(Tensor::scalar(0, DType::float32));
    added.trainable = form.learned;
    if (form.learned) added.constraint = [](const Value& numbers) { return maximum(numbers, 1e-12); };
    fake->inputs_step = step.state();
    layer.weights.push_back(step);
  }
  state.fake = std::move(fake);
}

/// Ends the FakeQuantization of a weight. Returns the step of its inputs; 0 if there is none.
float take_step(detail::LayerState& layer, detail::VariableState& weight) {
  if (!weight.fake) return 0;
  const std::shared_ptr<detail::FakeQuantization> fake = std::exchange(weight.fake, nullptr);
  const detail::VariableState* const step = fake->inputs_step.get();
  if (step == nullptr) return 0;
  const auto is_step = [&](const Variable& one) { return one.id() == step; };
  layer.weights.erase(std::remove_if(layer.weights.begin(), layer.weights.end(), is_step), layer.weights.end());
  return static_cast<float>(step->numbers().item());
}

/// True for products in float8 of all layers that have this policy.
bool is_float8(const Policy& policy) {
  return policy.map() == nullptr && policy.quantization_mode() == QuantizationMode::float8;
}

bool has_quantizable_weights(const detail::LayerState& layer) {
  return std::any_of(layer.weights.begin(), layer.weights.end(), detail::can_be_quantized);
}

[[noreturn]] void fail_float8(const detail::LayerState& layer, const Policy& policy, const std::string& where) {
  fail<ValueError>(where, "{}; got the policy {} of {}", detail::float8_layers, policy.name(), layer.kind);
}

void require_gptq(const detail::LayerState& layer, const detail::QuantizedForm& form) {
  if (form.mode != QuantizationMode::gptq || detail::takes_gptq(layer)) return;
  fail<ValueError>(detail::label_of(layer),
                   "gptq is for Dense, EinsumDense with a kernel that begins with the axes of the sum, and projections "
                   "of attention; give this layer another policy");
}

/// The form that a weight is stored or rounded in; null if there is none.
const detail::QuantizedForm* form_of_weight(const Variable& weight) {
  const detail::VariableState& state = *weight.state();
  if (state.quantization) return &state.quantization->form;
  return state.fake ? &state.fake->form : nullptr;
}

/// The forms of all weights from `root` down, by path of the layer; {} if one that can have a form has none.
std::vector<std::pair<std::string, detail::QuantizedForm>> forms_of_all(detail::LayerState& root) {
  std::vector<std::pair<std::string, detail::QuantizedForm>> out;
  for (const detail::LayerWithPolicy& place : detail::layers_with_policies(root)) {
    for (const Variable& weight : place.layer->weights) {
      if (!detail::can_be_quantized(weight)) continue;
      const detail::QuantizedForm* const form = form_of_weight(weight);
      if (form == nullptr) return {};
      out.emplace_back(place.path, *form);
    }
  }
  return out;
}

}  // namespace

std::vector<detail::LayerWithPolicy> detail::layers_with_policies(LayerState& root, const Policy& outer) {
  std::vector<LayerWithPolicy> out;
  add_places(root, "", {{.policy = outer, .path = "", .of_layer = false}}, out);
  return out;
}

bool detail::has_projections(const std::string& class_name) {
  return class_name == "MultiHeadAttention" || class_name == "GroupedQueryAttention";
}

bool detail::can_be_quantized(const Variable& weight) { return !weight.state()->quantizable.inputs.empty(); }

bool detail::takes_gptq(const LayerState& layer) {
  if (layer.kind != "Dense" && layer.kind != "EinsumDense") return false;  // projections are of this kind, too
  return std::all_of(layer.weights.begin(), layer.weights.end(), [](const Variable& weight) {
    const Shape& inputs = weight.state()->quantizable.inputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i] != static_cast<std::int64_t>(i)) return false;
    }
    return true;
  });
}

bool detail::takes_form(const LayerState& layer, const QuantizedForm& form) {
  // Projections of attention are of this kind, too.
  return form.mode != QuantizationMode::float8 || layer.kind == "Dense" || layer.kind == "EinsumDense";
}

void detail::require_known_weights(const LayerState& layer, const Policy& policy, const std::string& where) {
  if (!is_float8(policy) || !has_quantizable_weights(layer) || takes_form(layer, form_of(policy))) return;
  fail_float8(layer, policy, where);
}

void detail::require_known_layer(const LayerState& layer, const Policy& policy, const std::string& where) {
  if (!is_float8(policy)) return;
  if (has_quantizable_weights(layer)) return require_known_weights(layer, policy, where);
  const QuantizedForm form = form_of(policy);
  bool any = false, taken = false;
  const auto visit = [&](const LayerState& state, const auto& again) -> void {
    const bool found = has_quantizable_weights(state);
    any = any || found;
    taken = taken || (found && takes_form(state, form));
    for (const auto& child : state.children) again(*child.second, again);
  };
  visit(layer, visit);
  if (any && !taken) fail_float8(layer, policy, where);
}

void detail::require_no_adapters(const LayerWithPolicy& place, const QuantizedForm& form, const std::string& where) {
  const auto adapted = [](const Variable& weight) {
    return weight.state()->adapters && !weight.state()->adapters->all.empty();
  };
  const std::vector<Variable>& weights = place.layer->weights;
  if (!form.keeps_floats() || !takes_form(*place.layer, form)) return;
  if (std::none_of(weights.begin(), weights.end(), adapted)) return;
  fail<ValueError>(where, "weights to round in training must have no adapters; got those of {}{}", place.layer->kind,
                   place.path.empty() ? "" : fmt::format(" \"{}\"", place.path));
}

void detail::require_no_adapters(LayerState& root, const std::string& where) {
  for (const LayerWithPolicy& place : layers_with_policies(root)) {
    if (has_form(place.policy)) require_no_adapters(place, form_of(place.policy), where);
  }
}

bool detail::has_form(const Policy& policy) {
  return policy.quantization_mode() != QuantizationMode::none || policy.fake_quantization() != QuantizationMode::none;
}

detail::QuantizedForm detail::form_of(const Policy& policy) {
  if (policy.fake_quantization() != QuantizationMode::none && policy.map() == nullptr) {
    return quantized_form(policy.name().substr(0, policy.name().find("_from_")), -1, "");
  }
  return {policy.quantization_mode(), policy.block_size(), policy.quantized_inputs()};
}

std::optional<detail::QuantizedForm> detail::fake_form_of(const LayerState& layer) {
  for (const Variable& weight : layer.weights) {
    if (weight.state()->fake) return weight.state()->fake->form;
  }
  return {};
}

void detail::quantize_weight(LayerState& layer, const Variable& weight, const QuantizedForm& form) {
  VariableState& state = *weight.state();
  if (form.mode == QuantizationMode::float8) return prepare_for_float8(layer, weight, form);
  if (!can_be_quantized(weight) || weight.quantized()) return;
  if (form.fake) return fake_quantize_weight(layer, weight, form);
  require_gptq(layer, form);
  const float step = take_step(layer, state);
  auto quantization = std::make_shared<Quantization>();
  quantization->form = form;
  quantization->shape = weight.shape();
  quantization->axes = state.quantizable;
  std::vector<Variable> added{side_weight(weight, "_scale")};
  quantization->scale = added.back().state();
  if (form.has_zero()) {
    added.push_back(side_weight(weight, "_zero"));
    quantization->zero = added.back().state();
  }
  if (has_static_inputs(layer, weight, form)) {
    added.push_back(side_weight(weight, "_inputs_scale"));
    added.back().state()->assign(Tensor::scalar(step > 0 ? 1 / step : 0, DType::float32));
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
    if (!has_form(place.policy)) continue;
    quantize_own_weights(*place.layer, form_of(place.policy));
  }
}

void detail::require_convertible_to_codes(LayerState& root, const std::string& where) {
  for (const LayerWithPolicy& place : layers_with_policies(root)) {
    if (!has_form(place.policy)) continue;
    for (const Variable& weight : place.layer->weights) {
      if (!can_be_quantized(weight) || form_of_weight(weight) != nullptr || !weight.filled()) continue;
      require_gptq(*place.layer, form_of(place.policy));
      const std::optional<double> number = non_finite_number(weight.value().cast(DType::float32));
      if (!number) continue;
      fail<ValueError>(where, "numbers of {} must be finite in float32 to be quantized; got {}",
                       place.path.empty() ? weight.name() : place.path + "/" + weight.name(), *number);
    }
  }
}

void detail::require_same_quantization(LayerState& layer, const Policy& policy, const std::string& label) {
  const auto require = [&](const std::string& form, const std::string& of) {
    if (has_form(policy) && form_of(policy).name() == form) return;
    fail<ValueError>(label,
                     "to: the weights{} are quantized; the policy must be {}_from_ and the name of another one; got {}",
                     of, form, policy.name());
  };
  if (has_form(layer.policy)) return require(form_of(layer.policy).name(), "");
  if (policy.inherits() || policy.map() != nullptr) return;
  for (const auto& [path, form] : forms_of_all(layer)) require(form.name(), fmt::format(" of \"{}\"", path));
}

std::vector<std::pair<detail::LayerState*, Policy>> detail::replace_policies(LayerState& root, const Policy& policy) {
  std::vector<std::pair<LayerState*, Policy>> before{{&root, root.policy}};
  if (policy.map() == nullptr && has_form(policy) && !forms_of_all(root).empty()) {
    for (const LayerWithPolicy& place : layers_with_policies(root)) {
      LayerState& layer = *place.layer;
      if (&layer == &root || layer.policy.map() != nullptr || !has_form(layer.policy)) continue;
      before.emplace_back(&layer, std::exchange(layer.policy, policy));
    }
  }
  root.policy = policy;
  return before;
}

void detail::require_quantized(LayerState& root, const Policy& policy, const char* where) {
  if (policy.inherits()) return;
  for (const LayerWithPolicy& place : layers_with_policies(root, policy)) {
    if (!has_form(place.policy)) continue;
    for (const Variable& weight : place.layer->weights) {
      if (!can_be_quantized(weight) || weight.quantized() || weight.state()->fake) continue;
      if (!takes_form(*place.layer, form_of(place.policy))) continue;
      fail<ValueError>(where, "policy {} needs quantized weights; {} is built of {}; call quantize(\"{}\") first",
                       place.policy.name(), place.path.empty() ? weight.name() : place.path + "/" + weight.name(),
                       weight.dtype(), form_of(place.policy).name());
    }
  }
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
