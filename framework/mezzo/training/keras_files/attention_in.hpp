#pragma once
#include <mezzo/io/hdf5_file.hpp>
#include <mezzo/nn/layer_state.hpp>

namespace mezzo::detail {

/// Quantizes the attention layers of a model whose projections a file has as codes. Files of Keras have this in their
/// arrays alone if Model.quantize() has quantized the layer: its policy is still that of the floats.
void quantize_attention_of_file(LayerState& model, const Hdf5File& file);

}  // namespace mezzo::detail
