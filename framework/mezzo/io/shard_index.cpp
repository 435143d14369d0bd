#include <mezzo/io/shard_index.hpp>

#include <filesystem>

#include <nlohmann/json.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/open_file.hpp>

namespace mezzo::detail {
namespace {

constexpr std::uint64_t max_index_bytes = 16'000'000;
constexpr const char* weight_map = "weight_map";

bool is_file_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find_first_of(std::string("/\\\0", 3)) == name.npos;
}

nlohmann::json parse_index(const std::string& path, const std::string& where) {
  const OpenFile file(path, where);
  if (file.size() > max_index_bytes) {
    fail<FileError>(where, "an index must have at most {} bytes; got {}", max_index_bytes, file.size());
  }
  std::string text(file.size(), ' ');
  file.read(0, text.data(), text.size(), where);
  const auto json = nlohmann::json::parse(text, nullptr, false);
  const auto map = json.is_object() ? json.find(weight_map) : json.end();
  if (map != json.end() && map->is_object()) return *map;
  fail<FileError>(where, "an index must be a JSON object with an object \"{}\"; got {}", weight_map,
                  json.is_object() ? "a JSON object without it" : "another text");
}

}  // namespace

std::string with_index(const std::string& path) {
  std::error_code ignored;
  const bool has_index =
      !std::filesystem::exists(path, ignored) && std::filesystem::exists(path + index_suffix, ignored);
  return has_index ? path + index_suffix : path;
}

std::string shard_index_text(std::uint64_t total_size, const std::map<std::string, std::string>& files) {
  const nlohmann::ordered_json index{{"metadata", {{"total_size", total_size}}}, {weight_map, files}};
  return index.dump(2) + "\n";
}

ShardIndex read_shard_index(const std::string& path, const std::string& where) {
  std::map<std::string, std::vector<std::string>> files;
  const nlohmann::json map = parse_index(path, where);
  for (const auto& [name, file] : map.items()) {
    const bool good = file.is_string() && is_file_name(file.get_ref<const std::string&>());
    if (!good) {
      fail<FileError>(where, "tensor \"{}\": must be in a file of the index's folder; got {}", name,
                      file.is_string() ? '"' + file.get<std::string>() + '"' : "no name");
    }
    files[file.get<std::string>()].push_back(name);
  }
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  ShardIndex index;
  for (auto& [file, names] : files) index.emplace_back((folder / file).string(), std::move(names));
  return index;
}

}  // namespace mezzo::detail
