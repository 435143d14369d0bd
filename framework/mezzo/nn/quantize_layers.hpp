#pragma once
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer_state.hpp>
#include <mezzo/nn/quantize_options.hpp>
#include <mezzo/nn/quantize_weights.hpp>

namespace mezzo::detail {

/// Layer::quantize() of the layer and its sub-layers. `where` begins errors. The caller locks the weights.
void quantize_layers(LayerState& root, const std::string& mode, const QuantizeOptions& options,
                     const std::string& where);

/// The layers from `root` down with quantizable weights that the filters choose. A ValueError that starts with `where`
/// if there are none or one of them can't get this form.
std::vector<LayerWithPolicy> layers_to_quantize(LayerState& root, const QuantizedForm& form,
                                                const QuantizeOptions& options, const std::string& where);

/// Gives attention layers whose projections are all quantized in this form a policy of the form, as they have when they
/// are built under such a policy.
void quantize_policies_of_attention(LayerState& root, const QuantizedForm& form);

/// The forms of all quantized layers from `root` down, as the text of a JSON object: {"encoder/fc": "int8"}; "": none.
MEZZO_API std::string quantization_text(const LayerState& root);

/// Quantizes the layers that such a text names, unless their policies did. A ValueError for another text or an unknown
/// layer.
MEZZO_API void quantize_by_text(LayerState& root, const std::string& text, const std::string& where);

}  // namespace mezzo::detail
