#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <memory>
#include <sstream>

#include <mezzo/cli/commands.hpp>
#include <mezzo/data/tables/read_csv.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/io/npy.hpp>
#include <mezzo/io/npz.hpp>
#include <mezzo/io/safetensors.hpp>
#include <mezzo/io/torch_file.hpp>
#include <mezzo/training/model/saving.hpp>

namespace mezzo::cli {
namespace {

using detail::FileKind;

void print_row(const std::string& name, const std::string& dtype, const Shape& shape) {
  fmt::print("{:<40} {:<10} {}\n", name, dtype, to_string(shape));
}

void print_entries(const TensorFile& file) {
  std::uint64_t bytes = 0;
  for (const TensorEntry& entry : file.entries()) {
    print_row(entry.name, detail::type_text(entry), entry.shape);
    bytes += entry.bytes;
  }
  fmt::print("{} tensors, {} bytes\n", file.entries().size(), bytes);
}

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
  if (format != file.metadata().end() && format->second == "mezzo_model") print_model(path);
  for (const auto& [name, text] : file.metadata()) {
    // Texts of files may be long and have control characters.
    std::string line = text.substr(0, 100);
    for (char& letter : line) {
      if (static_cast<unsigned char>(letter) < 32) letter = ' ';
    }
    fmt::print("{} = {}{}\n", name, line, line.size() < text.size() ? "..." : "");
  }
  print_entries(file);
}

void inspect(const std::string& path) {
  const std::string where = fmt::format("[inspect \"{}\"]", path);
  if (std::error_code error; !std::filesystem::is_regular_file(path, error)) {
    throw FileError(
        fmt::format("{} {}", where, std::filesystem::exists(path, error) ? "must be a file" : "no such file"));
  }
  const FileKind kind = detail::check_kind(path,
                                           {FileKind::safetensors, FileKind::shard_index, FileKind::npy, FileKind::npz,
                                            FileKind::torch, FileKind::keras, FileKind::hdf5, FileKind::table},
                                           where, ".mezzo, .safetensors, .keras, .h5, .pt, .npy, .npz or .csv");
  fmt::print("{}\n", path);
  switch (kind) {
    case FileKind::npy: {
      const Tensor array = load_npy(path);
      return print_row("array", dtype_name(array.dtype()), array.shape());
    }
    case FileKind::npz:
      for (const auto& [name, array] : load_npz(path)) print_row(name, dtype_name(array.dtype()), array.shape());
      return;
    case FileKind::torch:
      return print_entries(TorchFile(path));
    case FileKind::keras:
    case FileKind::hdf5:
      return print_model(path);
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
  command->add_option("file", *path, "Model, weights, checkpoint, arrays or table")->required();
  command->callback([path] { inspect(*path); });
}

}  // namespace mezzo::cli
