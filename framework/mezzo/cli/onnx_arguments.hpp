#pragma once
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <mezzo/onnx/export_onnx.hpp>

namespace mezzo::cli {

/// Options of `mezzo convert` for .onnx files, those of export_onnx().
class OnnxArguments {
 public:
  /// Adds them to a subcommand, which writes to this object.
  void add_to(CLI::App& command);

  /// The options. A UsageError for a text that is none.
  ExportOnnxOptions read() const;

  /// A UsageError if one is given for a file of another format.
  void require_none(const std::string& file) const;

 private:
  ExportOnnxOptions options_;
  std::string batch_ = "dynamic";
  std::vector<std::string> dynamic_axes_, metadata_;
  std::vector<const CLI::Option*> added_;
};

}  // namespace mezzo::cli
