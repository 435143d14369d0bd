// The command's use of mezzo::onnx, which a build without ONNX's messages lacks.
#include <mezzo/cli/onnx_part.hpp>

#include <fmt/format.h>

#include <mezzo/cli/tensor_rows.hpp>
#include <mezzo/core/error.hpp>

#if MEZZO_WITH_ONNX
#include <mezzo/onnx/load_onnx.hpp>
#include <mezzo/onnx/onnx_contents.hpp>
#endif

namespace mezzo::cli {

#if MEZZO_WITH_ONNX

void register_onnx() { detail::register_onnx_models(); }

Any<Model> read_onnx(const std::string& path, const Policy& policy) { return load_onnx(path, {.dtype = policy}); }

void print_onnx(const std::string& path) {
  const detail::OnnxContents file = detail::onnx_contents(path);
  fmt::print("ONNX file, IR version {}{}{}\n", file.ir_version, file.producer.empty() ? "" : ", made by ",
             one_line(file.producer));
  for (const auto& [domain, version] : file.opsets) {
    fmt::print("opset {}{}{}\n", version, domain.empty() ? "" : " of ", one_line(domain));
  }
  for (const auto& [name, type] : file.inputs) fmt::print("input {}: {}\n", one_line(name), one_line(type));
  for (const auto& [name, type] : file.outputs) fmt::print("output {}: {}\n", one_line(name), one_line(type));
  for (const auto& [name, count] : file.operators) fmt::print("{:>6} {}\n", count, one_line(name));
  for (const auto& [key, text] : file.metadata) fmt::print("{} = {}\n", one_line(key), one_line(text));
  print_entries(file.initializers);
}

void write_onnx(Model& model, const std::string& path, const ExportOnnxOptions& options) {
  export_onnx(model, path, options);
}

#else

namespace {

[[noreturn]] void refuse(const std::string& path) {
  throw FileError(
      fmt::format("[\"{}\"] this build of mezzo has no ONNX: it was built without ONNX's messages and Protobuf", path));
}

}  // namespace

void register_onnx() {}

Any<Model> read_onnx(const std::string& path, const Policy&) { refuse(path); }

void print_onnx(const std::string& path) { refuse(path); }

void write_onnx(Model&, const std::string& path, const ExportOnnxOptions&) { refuse(path); }

#endif

}  // namespace mezzo::cli
