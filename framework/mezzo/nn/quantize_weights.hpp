#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer_state.hpp>
#include <mezzo/precision/quantized_form.hpp>

namespace mezzo::detail {

/// A layer with its path from a root, and the policy that applies to it outside of a Trainer.
struct LayerWithPolicy {
  LayerState* layer;
  std::string path;
  Policy policy;
};

/// All layers from `root` down, each once, with their policies; `outer` is that of a root without one.
std::vector<LayerWithPolicy> layers_with_policies(LayerState& root, const Policy& outer = dtype_policy());

/// True for the class of an attention layer whose projections are layers below it, in one form in Keras.
bool has_projections(const std::string& class_name);

/// True for a weight that declares its QuantizableAxes.
bool can_be_quantized(const Variable& weight);

/// True for a layer that the form gptq is for: Dense or EinsumDense, also as a projection of attention, with a kernel
/// that begins with the axes that its product sums over.
bool takes_gptq(const LayerState& layer);

/// The layers of float8, for errors.
constexpr const char* float8_layers = "float8 is for Dense, EinsumDense and projections of attention layers";

/// True unless the layer's class has no such products: float8 is for Dense, EinsumDense and projections of attention.
bool takes_form(const LayerState& layer, const QuantizedForm& form);

/// Throws a ValueError for a policy in float8 of a layer whose kernels or tables can't have this form: its own, or all
/// of those below it. Recurrent layers are such: their cells inherit the policy.
void require_known_layer(const LayerState& layer, const Policy& policy, const std::string& where);

/// The same for the layer's own kernels and tables alone: while it is built, when layers below may be missing.
void require_known_weights(const LayerState& layer, const Policy& policy, const std::string& where);

/// Throws a ValueError for a layer with adapters that would get a form of floats, float8 or a fake one.
void require_no_adapters(const LayerWithPolicy& place, const QuantizedForm& form, const std::string& where);

/// The same for a layer and those below it, with the forms of their policies.
void require_no_adapters(LayerState& root, const std::string& where);

/// True for a policy whose layers have quantized weights, or round them in training.
bool has_form(const Policy& policy);

/// The form of a policy with has_form().
QuantizedForm form_of(const Policy& policy);

/// The form that the layer's own weights prepare for, a fake one; nothing if they don't.
std::optional<QuantizedForm> fake_form_of(const LayerState& layer);

/// Quantizes a weight of the layer and adds its scales to the layer's weights: "kernel_scale", in blocks of int4 and in
/// gptq "kernel_zero", with static inputs "kernel_inputs_scale". A fake form adds no scales; with static inputs it adds
/// "kernel_inputs_step", which later gives the scale of the inputs. float8 adds "inputs_scale", "kernel_scale",
/// "outputs_grad_scale" and an "..._amax_history" of each; it also notes the bias of the layer. Nothing happens if the
/// weight can't be quantized or is in such a form already. A ValueError for the form gptq of a layer that doesn't take
/// it.
void quantize_weight(LayerState& layer, const Variable& weight, const QuantizedForm& form);

/// The same for all weights of the layer itself.
void quantize_own_weights(LayerState& layer, const QuantizedForm& form);

/// Quantizes the layer and its sub-layers as their policies say.
void quantize_by_policies(LayerState& root);

/// Throws the errors of quantize_by_policies(), and for numbers that have no codes, before a layer changes. `where`
/// begins the text.
void require_convertible_to_codes(LayerState& root, const std::string& where);

/// Throws a ValueError if the layer's weights, or all that can be quantized in layers below it, are quantized in
/// another form than `policy` says.
void require_same_quantization(LayerState& layer, const Policy& policy, const std::string& label);

/// Gives a layer a policy, and also the quantized layers below it if all weights there are quantized in the policy's
/// form. Returns the policies before.
std::vector<std::pair<LayerState*, Policy>> replace_policies(LayerState& root, const Policy& policy);

/// Throws a ValueError if `policy` quantizes weights of `root` that are built as floats. `where` begins its text.
MEZZO_API void require_quantized(LayerState& root, const Policy& policy, const char* where);

/// Throws a ValueError that names a weight with static inputs and without their scale; `where` and `call` begin its
/// text.
MEZZO_API void require_calibrated(const LayerState& root, const std::string& where, const char* call);

}  // namespace mezzo::detail
