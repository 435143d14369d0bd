#pragma once
#include <string>

#include <mezzo/io/safetensors.hpp>
#include <mezzo/nn/layer.hpp>
#include <mezzo/nn/weight_source.hpp>

namespace mezzo::detail {

/// Tensors and metadata of the file that Layer::save_weights() writes.
struct WeightFileContent {
  NamedTensors tensors;
  Metadata metadata;
};

/// Makes the content of a layer's weight file. Throws as Layer::save_weights(); `where` starts the texts and `call`
/// names the function.
WeightFileContent weight_file_content(const Layer& layer, const std::string& where, const char* call);

/// Assigns the tensors of a file to the weights of a layer that is built, one after the other. Throws a FileError if
/// they don't fit or are damaged, and no weight changes.
LoadWeightsReport assign_weights(const LayerState& layer, const std::string& label, const WeightSource& file,
                                 const LoadWeightsOptions& options);

}  // namespace mezzo::detail
