#pragma once
#include <string>

#include <mezzo/training/model/model.hpp>
#include <mezzo/training/model/saving.hpp>

namespace mezzo::detail {

/// Format of model files (docs/saving.md): a safetensors file with the tensors of a checkpoint, whose metadata also
/// holds the JSON of the layers and of compile(). All parts have checksums, and a file without them is refused.
class ModelFile {
 public:
  static constexpr const char* version = "1";            ///< value of `format_version`
  static constexpr const char* config = "config";        ///< JSON of Model::to_json()
  static constexpr const char* compile = "compile";      ///< JSON of the options of compile(); absent: not compiled
  static constexpr const char* policy = "dtype_policy";  ///< policy that the model ran under
  static constexpr const char* quantization = "quantization";  ///< detail::quantization_text(); absent: not quantized

  static void save(Model& model, const std::string& path, const SaveOptions& options);
  static std::string to_json(const Model& model);
  static Any<Model> load(const std::string& path, const LoadModelOptions& options);
};

}  // namespace mezzo::detail
