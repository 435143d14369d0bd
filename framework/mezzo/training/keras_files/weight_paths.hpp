#pragma once
#include <functional>
#include <string>
#include <vector>

#include <mezzo/nn/layer_state.hpp>

namespace mezzo::detail {

/// Weights of one layer, with the group of an HDF5 file in which Keras 3 has them as "vars/0", "vars/1", ...
struct KerasWeights {
  std::string group;  ///< "layers/dense_1"; "" for the model itself
  std::string layer;  ///< for errors: `[Dense "fc"]`
  std::string class_name;
  std::vector<Variable> variables;
  std::size_t output_axes = 0;  ///< axes of the layer's output, 0: not known
  bool is_int8 = false;         ///< true if a weight is quantized to 8 bits
  bool is_gptq = false;         ///< true for a kernel that GPTQ has quantized
};

/// Order of the layers of functional models, from which Keras counts the names of groups.
enum class LayerListing {
  as_declared,  ///< as a config lists them
  by_graph,     ///< as Keras sorts them
};

/// Groups of a layer and its sub-layers, in Keras' order.
std::vector<KerasWeights> keras_weights(const LayerState& layer, LayerListing listing);

/// Layers of a model, in that order.
std::vector<Shared<LayerState>> listed_layers(const LayerState& model, LayerListing listing);

/// Name of a layer's class in configs, or its kind.
std::string class_of_layer(const LayerState& layer);

}  // namespace mezzo::detail
