#pragma once
#include <optional>
#include <string>

#include <mezzo/data/text/tokenizer.hpp>
#include <mezzo/nn/config_json.hpp>

// Files of a folder of transformers. Errors are FileErrors that start with `where`.
namespace mezzo::detail {

/// Path of a file in a folder.
std::string file_in(const std::string& folder, const std::string& name);

/// Throws unless the path is a folder.
void require_folder(const std::string& folder, const std::string& where);

/// Reads a JSON object of a file.
Json read_json_file(const std::string& path, const std::string& where);

/// Path of the weights: model.safetensors, its index, pytorch_model.bin or its index, in this order.
std::string weights_in(const std::string& folder, const std::string& where);

/// Tokenizer of tokenizer.json, with the padding of tokenizer_config.json or special_tokens_map.json; empty without
/// tokenizer.json.
std::optional<Tokenizer> tokenizer_in(const std::string& folder);

}  // namespace mezzo::detail
