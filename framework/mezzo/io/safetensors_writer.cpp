#include <mezzo/io/safetensors_writer.hpp>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>

#include <nlohmann/json.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/io/safetensors_header.hpp>
#include <mezzo/io/shard_index.hpp>

namespace mezzo {
namespace {

using detail::TensorItem;
using detail::TensorItems;

/// Checks the tensors of a file, or of all its shards.
void check_items(const NamedTensors& tensors, const std::string& path) {
  std::set<std::string> names;
  for (const TensorItem& item : tensors) {
    const std::string where = detail::safetensors_label(path, item.first);
    if (item.first == detail::metadata_name) fail<NameError>(where, "must have another name; this one is reserved");
    if (!names.insert(item.first).second) fail<NameError>(where, "the name must be unique; got it twice");
    if (item.second.shape().size() > detail::max_rank) {
      fail<FileError>(where, "the rank must be at most {}; got {}", detail::max_rank, item.second.shape().size());
    }
  }
}

/// The order of the format's reference library.
void sort_items(TensorItems& items) {
  std::sort(items.begin(), items.end(), [](const TensorItem* a, const TensorItem* b) {
    const std::size_t sizes[] = {dtype_size(a->second.dtype()), dtype_size(b->second.dtype())};
    return sizes[0] != sizes[1] ? sizes[0] > sizes[1] : a->first < b->first;
  });
}

std::string checksums(const detail::SafetensorsHeader& header, const TensorItems& items) {
  std::string out = fmt::format("{:08x}", detail::safetensors_checksum(header));
  for (std::size_t i = 0; i < items.size(); ++i) {
    detail::TensorChecksum sum(header.entries[i]);
    sum.add(items[i]->second.raw(), items[i]->second.bytes());
    out += fmt::format("{:08x}", sum.value());
  }
  return out;
}

detail::SafetensorsHeader header_of(const TensorItems& items, const Metadata& metadata, const std::string& path) {
  detail::SafetensorsHeader header{.entries = {}, .metadata = metadata};
  std::uint64_t begin = 0;
  for (const TensorItem* item : items) {
    const Tensor& tensor = item->second;
    header.entries.push_back({.name = item->first,
                              .dtype = tensor.dtype(),
                              .shape = tensor.shape(),
                              .begin = begin,
                              .bytes = tensor.bytes(),
                              .type = detail::safetensors_name(tensor.dtype())});
    begin += tensor.bytes();
  }
  if (!header.metadata.emplace(detail::checksum_name, checksums(header, items)).second) {
    fail<NameError>(detail::safetensors_label(path), "metadata must not have the reserved entry crc32; got one");
  }
  return header;
}

std::string header_text_of(const detail::SafetensorsHeader& header, const std::string& path) {
  try {
    nlohmann::ordered_json json;
    json[detail::metadata_name] = header.metadata;
    for (const SafetensorsFile::Entry& entry : header.entries) {
      json[entry.name] = {
          {"dtype", entry.type}, {"shape", entry.shape}, {"data_offsets", {entry.begin, entry.begin + entry.bytes}}};
    }
    std::string text = json.dump();
    text.append((8 - text.size() % 8) % 8, ' ');
    return text;
  } catch (const nlohmann::json::type_error& error) {  // from dump(), which throws no other
    fail<NameError>(detail::safetensors_label(path), "names and metadata must be UTF-8; got other bytes ({})",
                    error.what());
  }
}

}  // namespace

detail::SafetensorsWriter::SafetensorsWriter(const std::string& path, TensorItems items, const Metadata& metadata)
    : path_(path), items_(std::move(items)) {
  sort_items(items_);
  header_ = header_text_of(header_of(items_, metadata, path), path);
  if (header_.size() > max_header_bytes) {
    fail<FileError>(safetensors_label(path), "the header must have at most {} bytes; got {}", max_header_bytes,
                    header_.size());
  }
}

std::unique_ptr<detail::FileReplacement> detail::SafetensorsWriter::write() const {
  auto file = std::make_unique<FileReplacement>(path_, safetensors_label(path_));
  const std::uint64_t length = header_.size();
  file->write(&length, sizeof length);
  file->write(header_.data(), header_.size());
  for (const TensorItem* item : items_) file->write(item->second.raw(), item->second.bytes());
  return file;
}

void save_safetensors(const std::string& path, const NamedTensors& tensors, const Metadata& metadata,
                      const ShardOptions& shards) {
  detail::check_suffix(path, detail::FileKind::safetensors, detail::safetensors_label(path),
                       ".safetensors, or have a suffix of its own");
  check_items(tensors, path);
  const std::uint64_t most = shards.max_shard_size.bytes();
  const bool replaces_shards = std::filesystem::exists(path + detail::index_suffix);
  if (most > 0 || replaces_shards) {
    constexpr std::uint64_t one_file = std::numeric_limits<std::uint64_t>::max();
    return detail::save_shards(path, tensors, metadata, most > 0 ? most : one_file);
  }
  TensorItems items;
  for (const TensorItem& item : tensors) items.push_back(&item);
  detail::SafetensorsWriter(path, items, metadata).write()->commit();
}

}  // namespace mezzo
