#pragma once
#include <string>

#include <mezzo/nn/layer.hpp>

namespace mezzo::detail {

/// Implements Layer::load_weights() for HDF5 files of Keras 3 and 2.
LoadWeightsReport load_keras_weights(Layer& layer, const std::string& path, const LoadWeightsOptions& options);

/// Implements Layer::save_weights() for `.weights.h5` files.
void save_keras_weights(const Layer& layer, const std::string& path);

}  // namespace mezzo::detail
