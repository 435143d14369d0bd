#pragma once
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/training/model/saving.hpp>

namespace mezzo::detail {

/// A model from an ONNX file, with the inputs that the file declares; -1 is an open size.
struct OnnxRead {
  Any<Model> model;
  std::vector<Spec> inputs;  ///< empty if the file does not state them
};

/// Reads an ONNX file with the options that load_model() has. Errors are those of load_onnx().
using OnnxReader = OnnxRead (*)(const std::string& path, const LoadModelOptions& options);

/// Reader of the library mezzo::onnx; null if the program does not have it.
MEZZO_API OnnxReader onnx_reader();
MEZZO_API bool set_onnx_reader(OnnxReader reader);

}  // namespace mezzo::detail
