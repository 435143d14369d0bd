#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <sstream>

#include <mezzo/cli/commands.hpp>
#include <mezzo/cli/onnx_part.hpp>
#include <mezzo/cli/saved_run.hpp>
#include <mezzo/cli/tensor_rows.hpp>
#include <mezzo/data/tables/read_csv.hpp>
#include <mezzo/io/array_entries.hpp>
#include <mezzo/io/check_path.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/io/hdf5_file.hpp>
#include <mezzo/io/safetensors.hpp>
#include <mezzo/io/torch_file.hpp>
#include <mezzo/nn/file_formats.hpp>
#include <mezzo/training/model/saving.hpp>

namespace mezzo::cli {
namespace {

using detail::FileKind;

/// Layers, policy and weights of a whole model.
void print_model(const std::string& path) {
  const Any<Model> model = load_model(path);
  const Policy policy = model->dtype_policy();
  fmt::print("{}policy {}\ncompiled {}\n", model->summary_text(), policy.name(),
             model->compile_options() != nullptr ? "yes" : "no");
}

void print_safetensors(const std::string& path) {
  const SafetensorsFile file(path);
  const auto format = file.metadata().find("format");
  if (format != file.metadata().end() && format->second == detail::file_formats::model) print_model(path);
  for (const auto& [name, text] : file.metadata()) {
    fmt::print("{} = {}\n", name, one_line(text));
  }
  print_entries(file.entries());
}

/// A whole model, or the arrays of a file of weights.
void print_hdf5(const std::string& path, const std::string& where) {
  const detail::Hdf5File file(path, where);
  if (file.texts("", "model_config")) return print_model(path);
  std::vector<TensorEntry> entries;
  for (const auto& [name, array] : file.arrays()) {
    TensorEntry entry;
    entry.name = name;
    entry.dtype = array.dtype;
    entry.shape = array.shape;
    entry.bytes = static_cast<std::uint64_t>(element_count(array.shape)) * dtype_size(array.dtype);
    entries.push_back(entry);
  }
  print_entries(entries);
}

void inspect(const std::string& given) {
  const std::string path = model_file_of(given);
  const std::string where = fmt::format("[inspect \"{}\"]", path);
  if (std::error_code error; !std::filesystem::is_regular_file(path, error)) {
    if (!std::filesystem::exists(path, error)) detail::fail_missing(path, where);
    throw FileError(where + " must be a file");
  }
  const FileKind kind =
      detail::check_kind(path,
                         {FileKind::safetensors, FileKind::shard_index, FileKind::npy, FileKind::npz, FileKind::torch,
                          FileKind::keras, FileKind::hdf5, FileKind::onnx, FileKind::table},
                         where, ".mezzo, .safetensors, .keras, .h5, .pt, .npy, .npz, .onnx or .csv");
  fmt::print("{}\n", path);
  switch (kind) {
    case FileKind::npy: {
      TensorEntry entry = detail::npy_entry(path);
      entry.name = "array";
      return print_entries({entry});
    }
    case FileKind::npz:
      return print_entries(detail::npz_entries(path));
    case FileKind::torch:
      return print_entries(TorchFile(path).entries());
    case FileKind::keras:
      return print_model(path);
    case FileKind::hdf5:
      return print_hdf5(path, where);
    case FileKind::onnx:
      return print_onnx(path);
    case FileKind::table: {
      std::ostringstream text;
      text << read_csv(path, {.sep = "auto"});
      fmt::print("{}\n", text.str());
      return;
    }
    default:
      return print_safetensors(path);
  }
}

}  // namespace

void add_inspect(CLI::App& app) {
  CLI::App* command = app.add_subcommand("inspect", "Show layers, tensors and metadata of a file");
  const auto path = std::make_shared<std::string>();
  command->add_option("file", *path, "Model, run folder, weights, checkpoint, arrays or table")->required();
  command->callback([path] { inspect(*path); });
}

}  // namespace mezzo::cli
