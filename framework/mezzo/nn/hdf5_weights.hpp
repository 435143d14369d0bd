#pragma once
#include <string>

#include <mezzo/nn/layer.hpp>

namespace mezzo::detail {

/// Reads and writes weights in Keras' HDF5 files. Set by registration.cpp, since these belong to a higher folder.
struct Hdf5Weights {
  LoadWeightsReport (*load)(Layer& layer, const std::string& path, const LoadWeightsOptions& options) = nullptr;
  void (*save)(const Layer& layer, const std::string& path) = nullptr;
};
Hdf5Weights& hdf5_weights();

}  // namespace mezzo::detail
