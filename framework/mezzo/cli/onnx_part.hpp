#pragma once
#include <string>

#include <mezzo/onnx/export_onnx.hpp>
#include <mezzo/training/model/model.hpp>

namespace mezzo::cli {

/// Makes load_model() know models that were read from ONNX files.
void register_onnx();

/// Reads an ONNX file. A policy that inherits is that of the file.
Any<Model> read_onnx(const std::string& path, const Policy& policy);

/// Prints version, inputs, outputs, operators, arrays and metadata of an ONNX file.
void print_onnx(const std::string& path);

/// Writes a model as an ONNX file.
void write_onnx(Model& model, const std::string& path, const ExportOnnxOptions& options);

}  // namespace mezzo::cli
