#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <variant>

#include <mezzo/core/api.hpp>
#include <mezzo/training/module/module.hpp>

namespace mezzo {

/// Options of export_onnx.
struct ExportOnnxOptions {
  int opset = 17;  ///< version of ONNX's operators, 17 to 22
  /// Number of samples that the graph takes: "dynamic", any number, by the name "batch" or the one of a loaded file; or
  /// a number, 1 or more. Then dynamic_axes must not open axis 0.
  std::variant<std::string, std::int64_t> batch = "dynamic";
  /// Further open sizes, by the name of an input and its axis, with the names of the sizes in the file, as in
  /// torch.onnx.export: `{{"input", {{0, "batch"}, {1, "positions"}}}}`. Equal names are equal sizes. Other axes stay
  /// as they are.
  std::map<std::string, std::map<int, std::string>> dynamic_axes{};
  /// Dtype of the computation: "", that of the model's policies; "float32", without any bfloat16 and float16.
  std::string precision{};
  std::map<std::string, std::string> metadata{};  ///< texts by key, written into the file's metadata
};

/// Writes the inference graph of a built model as an ONNX file, with standard operators alone: what predict() computes,
/// without dropout and with the moving statistics of batch normalization.
///
/// Inputs and outputs have the model's names and dtypes; floats of the outputs are float32 or float64, as predict()
/// returns them. Open sizes of Inputs are symbolic. A model without Inputs has the sizes of its first call, but for the
/// batch, and one of load_onnx() the sizes of its file with their names. Callbacks may call it. Weights have the names
/// of save_weights(). Weights of more than 2 GB in all are written to a second file, `path` with ".data" behind it.
///
/// A ValueError if the model isn't built, for an op without a counterpart in ONNX (the text names the layer and the
/// op), for a size that depends on open sizes in a way that ONNX has no operator for, for an option out of range, and
/// while another thread runs the model. A FileError if the file can't be written. The file is replaced as a whole:
/// after an error the old one is still there.
MEZZO_API void export_onnx(Module& model, const std::string& path, const ExportOnnxOptions& options = {});

}  // namespace mezzo
