#pragma once
#include <optional>
#include <string>

#include <mezzo/training/model/saving.hpp>
#include <mezzo/training/step/run_scopes.hpp>

namespace mezzo::detail {

/// Reads and writes whole models in Keras' files. Set by registration.cpp, since these belong to a higher folder.
struct KerasModelFiles {
  Any<Model> (*load)(const std::string& path, const LoadModelOptions& options) = nullptr;
  /// The checks of every save are done. Resets `idle` before the file is written.
  void (*save)(Model& model, const std::string& path, bool compiled, std::optional<IdleScope>& idle) = nullptr;
};
KerasModelFiles& keras_model_files();

}  // namespace mezzo::detail
