#pragma once
#include <optional>
#include <string>

#include <mezzo/training/model/model.hpp>
#include <mezzo/training/model/saving.hpp>
#include <mezzo/training/step/run_scopes.hpp>

namespace mezzo::detail {

/// Reads a model of Keras: a `.keras` archive of Keras 3, or an `.h5` file of Keras 2. Throws the errors of
/// load_model().
Any<Model> load_keras_model(const std::string& path, const LoadModelOptions& options);

/// Writes a `.keras` archive, after the checks of ModelFile::save(). Throws the errors of Model::save().
void save_keras_model(Model& model, const std::string& path, bool compiled, std::optional<IdleScope>& idle);

}  // namespace mezzo::detail
