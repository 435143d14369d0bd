#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace mezzo::detail {

/// Files of a `model.safetensors.index.json` or `pytorch_model.bin.index.json` in the order of their names, each with
/// its path and the names of the tensors that it holds.
using ShardIndex = std::vector<std::pair<std::string, std::vector<std::string>>>;

constexpr const char* index_suffix = ".index.json";

/// `path`, or that of its index of shards if the index exists and `path` doesn't.
std::string with_index(const std::string& path);

/// Text of an index, from the bytes of all tensors and the name of the file of each.
std::string shard_index_text(std::uint64_t total_size, const std::map<std::string, std::string>& files);

/// Reads an index. Its files must be in its own folder. Throws a FileError that starts with `where` if it is missing or
/// malformed.
ShardIndex read_shard_index(const std::string& path, const std::string& where);

}  // namespace mezzo::detail
