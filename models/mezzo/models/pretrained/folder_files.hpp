#pragma once
#include <string>

#include <mezzo/nn/config_json.hpp>

// Files of a folder of transformers. Errors are FileErrors that start with `where`.
namespace mezzo::detail {

/// Path of a file in a folder.
std::string file_in(const std::string& folder, const std::string& name);

/// True for a file that exists.
bool is_file(const std::string& path);

/// Throws unless the path is a folder with a config.json.
void require_folder(const std::string& folder, const std::string& where);

/// Reads a JSON object of a file.
Json read_json_file(const std::string& path, const std::string& where);

/// Path of the weights: model.safetensors, its index, pytorch_model.bin or its index, in this order.
std::string weights_in(const std::string& folder, const std::string& where);

}  // namespace mezzo::detail
