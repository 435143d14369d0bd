#include <mezzo/models/pretrained/folder_files.hpp>

#include <filesystem>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/check_path.hpp>
#include <mezzo/io/file.hpp>

namespace mezzo::detail {
namespace {

constexpr const char* weight_names[] = {"model.safetensors", "model.safetensors.index.json", "pytorch_model.bin",
                                        "pytorch_model.bin.index.json"};

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

/// Text of a special token, which is a text or an object with one; "" if there is none.
std::string token_text(const Json& config, const char* name) {
  const auto found = config.find(name);
  if (found == config.end()) return {};
  if (found->is_string()) return found->get<std::string>();
  const auto content = found->is_object() ? found->find("content") : found->end();
  return found->is_object() && content != found->end() && content->is_string() ? content->get<std::string>() : "";
}

/// Sets the padding that transformers uses if it is told to pad.
void read_padding(const std::string& folder, Tokenizer& tokenizer) {
  if (tokenizer.padding()) return;
  PaddingOptions padding;
  padding.pad_token.clear();
  for (const char* name : {"tokenizer_config.json", "special_tokens_map.json"}) {
    const std::string path = file_in(folder, name);
    if (!padding.pad_token.empty() || !is_file(path)) continue;
    const Json config = read_json_file(path, fmt::format("[from_pretrained \"{}\"]", path));
    padding.pad_token = token_text(config, "pad_token");
    const auto side = config.find("padding_side");
    if (side != config.end() && *side == "left") padding.direction = "left";
  }
  if (padding.pad_token.empty()) return;
  try {
    padding.pad_id = tokenizer.token_to_id(padding.pad_token);
  } catch (const NameError&) {
    return;  // transformers would add it, and the model has no weights for it
  }
  tokenizer.enable_padding(padding);
}

}  // namespace

std::string file_in(const std::string& folder, const std::string& name) {
  return (std::filesystem::path(folder) / name).string();
}

void require_folder(const std::string& folder, const std::string& where) {
  check_path(folder, where);
  std::error_code ignored;
  if (std::filesystem::is_directory(folder, ignored)) return;
  const bool exists = std::filesystem::exists(folder, ignored);
  fail<FileError>(where, "must be a folder with a config.json (names of the Hub are not downloaded); {}",
                  exists ? "got a file" : "there is none");
}

Json read_json_file(const std::string& path, const std::string& where) {
  const Bytes bytes = read_file(path, max_config_bytes);
  try {
    return parse_config({bytes.begin(), bytes.end()}, where);
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

std::optional<Tokenizer> tokenizer_in(const std::string& folder) {
  const std::string path = file_in(folder, "tokenizer.json");
  if (!is_file(path)) return std::nullopt;
  Tokenizer tokenizer = Tokenizer::from_file(path);
  read_padding(folder, tokenizer);
  return tokenizer;
}

}  // namespace mezzo::detail
