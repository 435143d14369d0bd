#pragma once
#include <optional>
#include <string>

#include <mezzo/nn/config_json.hpp>
#include <mezzo/training/model/saving.hpp>
#include <mezzo/training/step/run_scopes.hpp>

namespace mezzo::detail {

/// Reads and writes whole models in Keras' files. Set by registration.cpp, since these belong to a higher folder.
struct KerasModelFiles {
  Any<Model> (*load)(const std::string& path, const LoadModelOptions& options) = nullptr;
  /// The checks of every save are done. Resets `idle` before the file is written.
  void (*save)(Model& model, const std::string& path, bool compiled, std::optional<IdleScope>& idle) = nullptr;
  /// Makes a model of the text of Keras' to_json(). `json`: the text, as parse_config() reads it.
  Any<Model> (*from_json)(const Json& json, const ModelFromJsonOptions& options) = nullptr;
  /// Registers the class operation_layer_class.
  void (*register_operations)() = nullptr;
};

/// Class in configs of the layer that computes an operation of keras.ops.
constexpr const char* operation_layer_class = "mezzo>Operation";
KerasModelFiles& keras_model_files();

}  // namespace mezzo::detail
