#include <mezzo/models/pretrained/folder_files.hpp>

#include <filesystem>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/check_path.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/io/open_file.hpp>

namespace mezzo::detail {
namespace {

constexpr const char* weight_names[] = {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
                                        "pytorch_model.bin.index.json"};

}  // namespace

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

std::string file_in(const std::string& folder, const std::string& name) {
  return (std::filesystem::path(folder) / name).string();
}

void require_folder(const std::string& folder, const std::string& where) {
  check_path(folder, where);
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(folder, ignored);
  if (is_folder && std::filesystem::exists(file_in(folder, "config.json"), ignored)) return;
  const char* const need = "a folder with a config.json (names of the Hub are not downloaded)";
  if (folder.empty()) fail_missing(folder, where);
  if (!std::filesystem::exists(folder, ignored)) {
    fail<FileError>(where, "no such file or directory; it must be {}", need);
  }
  fail<FileError>(where, "must be {}; got a {}", need, is_folder ? "folder without it" : "file");
}

Json read_json_file(const std::string& path, const std::string& where) {
  const OpenFile file(path, where);
  check_kind_of_text(path, {FileKind::json}, where, "a JSON text");
  if (file.size() > max_config_bytes) {
    fail<FileError>(where, "must have at most {} bytes; got {}", max_config_bytes, file.size());
  }
  std::string text(file.size(), '\0');
  file.read(0, text.data(), text.size(), where);
  try {
    return parse_config(text, where);
  } catch (const ValueError& error) {
    throw FileError(error.what());
  }
}

std::string weights_in(const std::string& folder, const std::string& where) {
  for (const char* name : weight_names) {
    std::string path = file_in(folder, name);
    if (is_file(path)) return path;
  }
  fail<FileError>(where, "the folder must have one of {}; it has none", fmt::join(weight_names, ", "));
}

}  // namespace mezzo::detail
