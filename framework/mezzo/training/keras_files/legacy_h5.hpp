#pragma once
#include <string>

#include <mezzo/io/hdf5_file.hpp>
#include <mezzo/nn/layer_state.hpp>
#include <mezzo/nn/load_weights.hpp>
#include <mezzo/training/model/saving.hpp>

namespace mezzo::detail {

/// Reads an `.h5` file of a whole model that Keras 2, or save() of Keras 3 for such a suffix, wrote. The state of the
/// optimizer starts anew, with a warning.
Any<Model> load_legacy_model(const std::string& path, const LoadModelOptions& options, const std::string& where);

/// True if the file has weights by the names of layers, as Keras 2 writes them.
bool has_legacy_weights(const Hdf5File& file);

/// Assigns such weights to a model, in the order of its layers. A FileError for another number of layers or weights,
/// or other shapes: no weight changes. `skip_mismatch`: as match_keras_weights(), for the same number of layers.
LoadWeightsReport load_legacy_weights(const LayerState& model, const Hdf5File& file, bool skip_mismatch = false);

}  // namespace mezzo::detail
