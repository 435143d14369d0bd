#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/pattern.hpp>
#include <mezzo/io/file_calls.hpp>
#include <mezzo/io/safetensors_header.hpp>
#include <mezzo/io/safetensors_writer.hpp>
#include <mezzo/io/shard_index.hpp>

namespace mezzo::detail {
namespace {

namespace fs = std::filesystem;

/// Divides tensors in their order. A tensor larger than `most` has a shard of its own.
std::vector<TensorItems> divided(const NamedTensors& tensors, std::uint64_t most) {
  std::vector<TensorItems> shards(1);
  std::uint64_t bytes = 0;
  for (const TensorItem& item : tensors) {
    const std::uint64_t size = item.second.bytes();
    if (!shards.back().empty() && (size > most || bytes > most - size)) {
      shards.emplace_back();
      bytes = 0;
    }
    shards.back().push_back(&item);
    bytes += size;
  }
  return shards;
}

void delete_file(const std::string& path, const std::string& where) {
  if (file_calls().unlinkat(AT_FDCWD, path.c_str(), 0) == 0 || errno == ENOENT) return;
  fail<FileError>(where, "\"{}\", which is of an earlier save, can't be deleted: {}", path, std::strerror(errno));
}

/// Files under the name of a save.
class ShardFiles {
 public:
  ShardFiles(const std::string& path, std::size_t count) : path_(path), where_(safetensors_label(path)) {
    const fs::path file(path);
    folder_ = file.parent_path();
    stem_ = file.stem().string();
    suffix_ = file.extension().string();
    for (std::size_t i = 1; count > 1 && i <= count; ++i) {
      names_.push_back(fmt::format("{}-{:05}-of-{:05}{}", stem_, i, count, suffix_));
    }
    if (count == 1) names_.push_back(file.filename().string());
  }

  const std::vector<std::string>& names() const { return names_; }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string index() const { return path_ + index_suffix; }

  void delete_index() const { delete_file(index(), where_); }

  /// Deletes the file of an earlier save without shards, which readers prefer to an index.
  void delete_whole() const {
    if (names_.size() > 1) delete_file(path_, where_);
  }

  /// Deletes shards of earlier saves.
  void delete_others() const {
    std::set<std::string> others;
    for (const auto& entry : fs::directory_iterator(folder_.empty() ? "." : folder_)) {
      const std::string name = entry.path().filename().string();
      if (!entry.is_directory() && is_shard(name) && std::find(names_.begin(), names_.end(), name) == names_.end())
        others.insert(name);
    }
    for (const std::string& name : others) delete_file(path(name), where_);
  }

 private:
  /// True for "model-00001-of-00003.safetensors".
  bool is_shard(const std::string& name) const {
    static const Pattern number("-\\d{5}-of-\\d{5}");
    if (name.size() <= stem_.size() + suffix_.size()) return false;
    return name.compare(0, stem_.size(), stem_) == 0 && name.ends_with(suffix_) &&
           number.matches(name.substr(stem_.size(), name.size() - stem_.size() - suffix_.size()));
  }

  std::string path_, where_, stem_, suffix_;
  fs::path folder_;
  std::vector<std::string> names_;
};

std::string index_of_shards(const std::vector<TensorItems>& shards, const ShardFiles& files) {
  std::map<std::string, std::string> places;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    for (const TensorItem* item : shards[i]) {
      places[item->first] = files.names()[i];
      total += item->second.bytes();
    }
  }
  return shard_index_text(total, places);
}

}  // namespace

void save_shards(const std::string& path, const NamedTensors& tensors, const Metadata& metadata,
                 std::uint64_t max_shard_size) {
  const std::vector<TensorItems> shards = divided(tensors, max_shard_size);
  constexpr std::size_t most_shards = 99'999;
  if (shards.size() > most_shards) {
    fail<FileError>(safetensors_label(path), "max_shard_size must be larger: at most {} shards; got {}", most_shards,
                    shards.size());
  }
  const FileReplacement whole(path, safetensors_label(path));  // throws for a path that no file can have
  const ShardFiles files(path, shards.size());
  std::vector<std::unique_ptr<FileReplacement>> written;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    written.push_back(SafetensorsWriter(files.path(files.names()[i]), shards[i], metadata).write());
  }
  FileReplacement index(files.index(), safetensors_label(path));
  const std::string text = index_of_shards(shards, files);
  index.write(text.data(), text.size());
  for (const auto& file : written) file->flush();
  index.flush();
  files.delete_index();
  for (const auto& file : written) file->commit();
  files.delete_whole();
  if (shards.size() > 1) index.commit();
  files.delete_others();
}

}  // namespace mezzo::detail
