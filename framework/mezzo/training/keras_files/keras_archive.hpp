#pragma once
#include <string>

#include <mezzo/training/model/model.hpp>
#include <mezzo/training/model/saving.hpp>

namespace mezzo::detail {

/// Reads a model of Keras: a `.keras` archive of Keras 3, or an `.h5` file of Keras 2. Throws the errors of
/// load_model().
Any<Model> load_keras_model(const std::string& path, const LoadModelOptions& options);

/// Writes a `.keras` archive. Throws the errors of Model::save().
void save_keras_model(Model& model, const std::string& path, const SaveOptions& options);

}  // namespace mezzo::detail
