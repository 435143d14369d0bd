#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include <mezzo/cli/commands.hpp>
#include <mezzo/cli/onnx_arguments.hpp>
#include <mezzo/cli/onnx_part.hpp>
#include <mezzo/cli/saved_run.hpp>
#include <mezzo/cli/usage_error.hpp>
#include <mezzo/io/check_path.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/io/npz.hpp>
#include <mezzo/io/safetensors.hpp>
#include <mezzo/io/torch_file.hpp>
#include <mezzo/nn/file_formats.hpp>

namespace mezzo::cli {
namespace {

using detail::FileKind;

struct ConvertOptions {
  std::string from, to;
  bool overwrite = false;
  OnnxArguments onnx;
};

template <class File>
NamedTensors tensors_of(const File& file) {
  NamedTensors out;
  for (const TensorEntry& entry : file.entries()) {
    // Such a tensor would become bytes of another dtype.
    if (!entry.dtype) fail_usage("tensor \"{}\" has the dtype {}, which mezzo lacks", entry.name, entry.type);
    out.emplace_back(entry.name, file.read(entry.name));
  }
  return out;
}

void write_tensors(const ConvertOptions& options, const NamedTensors& tensors) {
  if (ends_in(options.to, ".safetensors")) return save_safetensors(options.to, tensors);
  if (ends_in(options.to, ".npz")) return save_npz(options.to, {tensors.begin(), tensors.end()});
  fail_usage("weights without layers become .safetensors or .npz; got \"{}\"", options.to);
}

void convert_model(const ConvertOptions& options) {
  const Any<Model> model = open_model(options.from, "");
  if (ends_in(options.to, ".mezzo") || ends_in(options.to, ".keras")) return model->save(options.to);
  if (ends_in(options.to, ".onnx")) {
    write_onnx(*model, options.to, options.onnx.read());
    fmt::print("not in the new file: options of compile(), state of the optimizer\n");
    return;
  }
  if (!ends_in(options.to, ".safetensors") && !ends_in(options.to, ".weights.h5")) {
    fail_usage("a model becomes .mezzo, .keras, .onnx, .safetensors or .weights.h5; got \"{}\"", options.to);
  }
  model->save_weights(options.to);
  fmt::print("not in the new file: layers, options of compile(), state of the optimizer\n");
}

void convert(const ConvertOptions& options) {
  if (!ends_in(options.to, ".onnx")) options.onnx.require_none(options.to);
  const std::string where = fmt::format("[convert \"{}\"]", options.from);
  std::error_code error;
  if (!std::filesystem::exists(options.from, error)) detail::fail_missing(options.from, where);
  if (!options.overwrite && std::filesystem::exists(options.to, error)) {
    fail_usage("\"{}\" exists; replace it by --overwrite", options.to);
  }
  if (std::filesystem::is_directory(options.from, error)) return convert_model(options);
  const FileKind kind = detail::check_kind(options.from,
                                           {FileKind::safetensors, FileKind::shard_index, FileKind::npz,
                                            FileKind::torch, FileKind::keras, FileKind::hdf5, FileKind::onnx},
                                           where, ".mezzo, .keras, .h5, .onnx, .safetensors, .pt or .npz");
  if (kind == FileKind::npz) {
    const std::map<std::string, Tensor> arrays = load_npz(options.from);
    return write_tensors(options, {arrays.begin(), arrays.end()});
  }
  if (kind == FileKind::torch) return write_tensors(options, tensors_of(TorchFile(options.from)));
  if (kind == FileKind::keras || kind == FileKind::hdf5 || kind == FileKind::onnx) return convert_model(options);
  const SafetensorsFile file(options.from);
  const auto format = file.metadata().find("format");
  if (format != file.metadata().end() && format->second == detail::file_formats::model) return convert_model(options);
  write_tensors(options, tensors_of(file));
  if (!file.metadata().empty()) fmt::print("not in the new file: {} metadata entries\n", file.metadata().size());
}

}  // namespace

void add_convert(CLI::App& app) {
  CLI::App* command = app.add_subcommand("convert", "Write a model or weights in another format");
  const auto options = std::make_shared<ConvertOptions>();
  command
      ->add_option("from", options->from,
                   "Run folder, model (.mezzo, .keras, .h5, .onnx) or weights (.safetensors, .pt, .npz)")
      ->required();
  command->add_option("to", options->to, "File to write; its suffix is the format")->required();
  command->add_flag("--overwrite", options->overwrite, "Replace an existing file");
  options->onnx.add_to(*command);
  command->callback([options] {
    convert(*options);
    fmt::print("wrote {}\n", options->to);
  });
}

}  // namespace mezzo::cli
