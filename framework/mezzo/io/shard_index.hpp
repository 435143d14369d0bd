#pragma once
#include <string>
#include <utility>
#include <vector>

namespace mezzo::detail {

/// Files of a `model.safetensors.index.json` or `pytorch_model.bin.index.json` in the order of their names, each with
/// its path and the names of the tensors that it holds.
using ShardIndex = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// Reads an index. Its files must be in its own folder. Throws a FileError that starts with `where` if it is missing or
/// malformed.
ShardIndex read_shard_index(const std::string& path, const std::string& where);

}  // namespace mezzo::detail
