#pragma once
#include <string>

#include <mezzo/io/hdf5_file.hpp>
#include <mezzo/nn/config_json.hpp>
#include <mezzo/training/model/saving.hpp>

namespace mezzo::detail {

/// Makes a model of Keras' config, without memory for more weights than the file has.
Any<Model> model_of_keras_config(const Json& config, const Hdf5File& weights, const LoadModelOptions& options,
                                 const std::string& where);

/// Makes a model of the text of Keras' to_json(), with new weights. Throws the errors of model_from_json().
Any<Model> keras_model_of_json(const Json& config, const ModelFromJsonOptions& options);

/// Compiles a model by Keras' compile_config. A ValueError names what mezzo lacks, with the way around it.
void compile_by_keras_config(Model& model, const Json& config);

}  // namespace mezzo::detail
