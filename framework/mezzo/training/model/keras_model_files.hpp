#pragma once
#include <string>

#include <mezzo/training/model/saving.hpp>

namespace mezzo::detail {

/// Reads and writes whole models in Keras' files. Set by registration.cpp, since these belong to a higher folder.
struct KerasModelFiles {
  Any<Model> (*load)(const std::string& path, const LoadModelOptions& options) = nullptr;
  void (*save)(Model& model, const std::string& path, const SaveOptions& options) = nullptr;
};
KerasModelFiles& keras_model_files();

}  // namespace mezzo::detail
