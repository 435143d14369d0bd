#include <mezzo/nn/quantize_layers.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/pattern.hpp>
#include <mezzo/graph/quantization.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/nn/config_json.hpp>
#include <mezzo/nn/quantize_weights.hpp>

namespace mezzo::detail {
namespace {

bool has_quantizable(const LayerState& layer) {
  return std::any_of(layer.weights.begin(), layer.weights.end(), can_be_quantized);
}

/// True if whole path matches; all do without filters.
std::function<bool(const std::string&)> chosen_by(const std::string& filters, const std::string& where) {
  if (filters.empty()) return [](const std::string&) { return true; };
  try {
    return [pattern = Pattern(filters)](const std::string& path) { return pattern.matches(path); };
  } catch (const std::runtime_error& error) {
    fail<ValueError>(where, "quantize: filters must be a regular expression; got \"{}\" ({})", filters, error.what());
  }
}

/// Throws if a layer whose weights prepared for a form can't get this one.
void require_prepared(const LayerWithPolicy& place, const QuantizedForm& form, const QuantizeOptions& options,
                      const std::string& where) {
  const QuantizedForm prepared = fake_form_of(*place.layer)->prepared();
  const bool same = form.mode == prepared.mode && form.block_size == prepared.block_size &&
                    (options.activations.empty() || form.inputs == prepared.inputs);
  if (!same) {
    fail<ValueError>(where, "quantize: {} \"{}\" was trained for {}; got {}", place.layer->kind, place.path,
                     prepared.name(), form.name());
  }
  for (const Variable& weight : place.layer->weights) {
    const auto& fake = weight.state()->fake;
    if (!fake || fake->inputs_step.get() == nullptr || fake->inputs_step->numbers().item() > 0) continue;
    fail<ValueError>(where, "quantize: static inputs of {}/{} have no range yet: train, or call calibrate()",
                     place.path, weight.name());
  }
}

void require_finite_weights(const std::vector<LayerWithPolicy>& places, const std::string& where) {
  for (const LayerWithPolicy& place : places) {
    for (const Variable& weight : place.layer->weights) {
      if (!can_be_quantized(weight)) continue;
      const auto number = non_finite_number(weight.value().cast(DType::float32));  // codes are computed in float32
      if (!number) continue;
      fail<ValueError>(where, "quantize: numbers of {}/{} must be finite; got {}", place.path, weight.name(), *number);
    }
  }
}

}  // namespace

std::vector<LayerWithPolicy> layers_to_quantize(LayerState& root, const QuantizedForm& form,
                                                const QuantizeOptions& options, const std::string& where) {
  const std::string& filters = options.filters;
  std::vector<LayerWithPolicy> out;
  std::vector<std::string> others;
  const auto chosen = chosen_by(filters, where);
  for (LayerWithPolicy& place : layers_with_policies(root)) {
    if (!chosen(place.path)) continue;
    const bool quantizable = has_quantizable(*place.layer);
    if (quantizable && !takes_form(*place.layer, form) && (!filters.empty() || place.path.empty())) {
      fail<ValueError>(where, "quantize: {}; got {} \"{}\"", float8_layers, place.layer->kind, place.path);
    }
    if (quantizable && takes_form(*place.layer, form)) {
      out.push_back(std::move(place));
    } else if (!filters.empty()) {
      others.push_back(fmt::format("{} \"{}\"", place.layer->kind, place.path));
    }
  }
  if (out.empty() && filters.empty() && form.mode == QuantizationMode::float8) {
    fail<ValueError>(where, "quantize: {}; found no built one", float8_layers);
  }
  if (out.empty() && filters.empty()) {
    fail<ValueError>(where, "quantize: needs a built layer with kernels or tables below it; found none");
  }
  if (out.empty()) {
    fail<ValueError>(where, "quantize: filters \"{}\" must match layers with kernels or tables; got {}", filters,
                     others.empty() ? std::string("no layer") : fmt::format("{}", fmt::join(others, ", ")));
  }
  for (const LayerWithPolicy& place : out) {
    const std::string name = fmt::format("{} \"{}\"", place.layer->kind, place.path);
    const std::optional<QuantizedForm> prepared = fake_form_of(*place.layer);
    if (place.policy.quantization_mode() != QuantizationMode::none || (prepared && form.keeps_floats())) {
      fail<ValueError>(where, "quantize: layers must not be quantized already; got {} ({})", name, place.policy.name());
    }
    if (prepared) require_prepared(place, form, options, where);
    require_no_adapters(place, form, where + " quantize:");
    if (place.policy.by_op() != nullptr) {
      fail<ValueError>(where, "quantize: the policy must not have op lists; got those of {}", name);
    }
    if (form.mode == QuantizationMode::float8 && place.policy.products() != ProductFormat::same) {
      fail<ValueError>(where, "quantize: products can't be in float8 and int8; got {} ({})", name, place.policy.name());
    }
    if (form.mode == QuantizationMode::int8 && place.policy.compute_dtype() == DType::float16) {
      fail<ValueError>(where, "quantize: int8 can't be computed in float16, whose range its scales exceed; got {}",
                       name);
    }
  }
  return out;
}

void quantize_policies_of_attention(LayerState& root, const QuantizedForm& form) {
  for (const LayerWithPolicy& place : layers_with_policies(root)) {
    LayerState& layer = *place.layer;
    if (!has_projections(layer.kind)) continue;
    const std::string policy = fmt::format("{}_from_{}", form.name(), place.policy.name());
    const bool all = std::all_of(layer.children.begin(), layer.children.end(),
                                 [&](const auto& child) { return child.second->policy.name() == policy; });
    if (all && !layer.children.empty()) layer.policy = layer.last_policy = policy;
  }
}

void quantize_layers(LayerState& root, const std::string& mode, const QuantizeOptions& options,
                     const std::string& where) {
  if (mode.rfind("gptq", 0) == 0) {
    fail<ValueError>(
        where, "quantize: \"{}\" needs calibration data: call quantize(\"gptq\", GPTQConfig{{.dataset = ...}})", mode);
  }
  QuantizedForm form = quantized_form(mode, 128, where);
  if (!options.activations.empty()) set_inputs(form, options.activations, where);
  require_known_inputs(form, where);
  const std::vector<LayerWithPolicy> places = layers_to_quantize(root, form, options, where);
  require_finite_weights(places, where);
  for (const LayerWithPolicy& place : places) {
    const std::optional<QuantizedForm> prepared = fake_form_of(*place.layer);
    const QuantizedForm own = prepared ? prepared->prepared() : form;
    quantize_own_weights(*place.layer, own);
    place.layer->policy = fmt::format("{}_from_{}", own.name(), place.policy.source().name());
    place.layer->last_policy = place.layer->policy;
  }
  quantize_policies_of_attention(root, form);
}

std::string quantization_text(const LayerState& root) {
  Json forms = Json::object();
  for (const LayerWithPolicy& place : layers_with_policies(const_cast<LayerState&>(root))) {  // not changed
    for (const Variable& weight : place.layer->weights) {
      if (weight.quantized()) forms[place.path] = weight.state()->quantization->form.name();
      if (weight.state()->fake) forms[place.path] = weight.state()->fake->form.name();
    }
  }
  return forms.empty() ? "" : forms.dump();
}

void quantize_by_text(LayerState& root, const std::string& text, const std::string& where) {
  if (text.empty()) return;
  const Json forms = parse_config(text, where);
  const std::vector<LayerWithPolicy> places = layers_with_policies(root);
  for (const auto& item : forms.items()) {
    const auto found = std::find_if(places.begin(), places.end(),
                                    [&](const LayerWithPolicy& place) { return place.path == item.key(); });
    if (found == places.end()) fail<ValueError>(where, "no layer has the path \"{}\" of a quantized one", item.key());
    const QuantizedForm form = quantized_form(read_string(item.value(), where), -1, where);
    if (!takes_form(*found->layer, form)) {
      fail<ValueError>(where, "{}; got {} \"{}\"", float8_layers, found->layer->kind, item.key());
    }
    quantize_own_weights(*found->layer, form);
    if (has_form(found->policy) || found->policy.by_op() != nullptr) continue;
    found->layer->policy = fmt::format("{}_from_{}", form.name(), found->policy.name());
  }
}

}  // namespace mezzo::detail
