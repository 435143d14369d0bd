#include <mezzo/io/safetensors.hpp>

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/check_bools.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/io/mapped_file.hpp>
#include <mezzo/io/safetensors_header.hpp>
#include <mezzo/io/shard_index.hpp>

namespace mezzo {
namespace {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the format is little-endian; bytes are not swapped");

/// Parses the checksums of a file of `count` tensors: `count`, or one more, with that of the header first.
std::vector<std::uint32_t> parse_checksums(const std::string& text, std::size_t count, const std::string& path) {
  const bool complete = text.size() == 8 * count || text.size() == 8 * (count + 1);
  if (!complete || text.find_first_not_of("0123456789abcdef") != std::string::npos) {
    fail<FileError>(detail::safetensors_label(path),
                    "crc32 in the metadata must have 8 hexadecimal digits for the header and for each of {} tensors; "
                    "got \"{}\"",
                    count, text.substr(0, 100));
  }
  std::vector<std::uint32_t> out;
  for (std::size_t at = 0; at < text.size(); at += 8) {
    out.push_back(static_cast<std::uint32_t>(std::stoul(text.substr(at, 8), nullptr, 16)));
  }
  return out;
}

/// True for the index of shards: a JSON object. A safetensors file that began with it would have a header of 2^56
/// bytes.
bool is_index(const detail::MappedFile& file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), std::min<std::uint64_t>(file.size(), 64));
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '{') return false;
  return text.size() > 8 && text[7] != '\0';
}

/// Shape of the bytes of a tensor whose dtype mezzo lacks.
Shape shape_of_bytes(const TensorEntry& entry) {
  const std::uint64_t bits = detail::safetensors_bits(entry.type);
  if (bits % 8 != 0) return {static_cast<std::int64_t>(entry.bytes)};
  Shape shape = entry.shape;
  if (bits > 8) shape.push_back(static_cast<std::int64_t>(bits / 8));
  return shape;
}

}  // namespace

/// A file with its header.
struct SafetensorsFile::Shard {
  std::string path;
  std::shared_ptr<const detail::MappedFile> file;
  std::uint64_t data_begin = 0;
  detail::SafetensorsHeader header;
  Checksums checksummed = Checksums::none;
  std::map<std::string, std::uint32_t> checksums;  // by tensor

  explicit Shard(const std::string& shard_path) : Shard(shard_path, nullptr) {}
  Shard(const std::string& shard_path, std::shared_ptr<const detail::MappedFile> opened);
  void take_checksums();
  const std::uint8_t* bytes(const Entry& entry, const std::string& where) const {
    return file->bytes(data_begin + entry.begin, entry.bytes, where);
  }
};

SafetensorsFile::Shard::Shard(const std::string& shard_path, std::shared_ptr<const detail::MappedFile> opened)
    : path(shard_path), file(std::move(opened)) {
  const std::string where = detail::safetensors_label(path);
  if (!file) file = std::make_shared<detail::MappedFile>(path, where);
  const std::uint64_t size = file->size();
  if (size < 8) fail<FileError>(where, "must begin with 8 bytes, the header's length; got {}", size);
  std::uint64_t length = 0;
  std::memcpy(&length, file->bytes(0, sizeof length, where), sizeof length);
  if (length > detail::max_header_bytes) {
    fail<FileError>(where, "the header must have at most {} bytes; got {}", detail::max_header_bytes, length);
  }
  data_begin = 8 + length;
  if (data_begin > size) {
    fail<FileError>(where, "the header must have {} bytes; the file has {} after its length", length, size - 8);
  }
  const std::string text(reinterpret_cast<const char*>(file->bytes(8, length, where)), length);
  header = detail::parse_safetensors_header(text, size - data_begin, path);
  take_checksums();
}

/// Moves the checksums out of the metadata.
void SafetensorsFile::Shard::take_checksums() {
  const auto text = header.metadata.find(detail::checksum_name);
  if (text == header.metadata.end()) return;
  std::vector<std::uint32_t> all = parse_checksums(text->second, header.entries.size(), path);
  checksummed = Checksums::tensors;
  if (all.size() > header.entries.size()) {
    if (all.front() != detail::safetensors_checksum(header)) {
      fail<FileError>(detail::safetensors_label(path), "the checksum of the header differs: the file is damaged");
    }
    all.erase(all.begin());
    checksummed = Checksums::all;
  }
  for (std::size_t i = 0; i < all.size(); ++i) checksums[header.entries[i].name] = all[i];
  header.metadata.erase(text);
}

SafetensorsFile::SafetensorsFile(const std::string& path) : path_(path) {
  const std::string where = detail::safetensors_label(path);
  detail::check_kind(path, {detail::FileKind::safetensors, detail::FileKind::shard_index}, where,
                     "a safetensors file or an index of shards");
  auto file = std::make_shared<const detail::MappedFile>(path, where);
  auto shards = std::make_shared<std::vector<Shard>>();
  if (!is_index(*file)) {
    shards->emplace_back(path, std::move(file));
    entries_ = shards->front().header.entries;
    metadata_ = shards->front().header.metadata;
    checksummed_ = shards->front().checksummed;
    for (std::size_t i = 0; i < entries_.size(); ++i) places_[entries_[i].name] = {0, i};
  } else {
    const detail::ShardIndex index = detail::read_shard_index(path, where);
    checksummed_ = index.empty() ? Checksums::none : Checksums::all;
    for (const auto& [shard_path, names] : index) {
      shards->emplace_back(shard_path);
      add(shards->back(), shards->size() - 1, names);
    }
  }
  shards_ = std::move(shards);
}

/// Adds the tensors that an index expects in a shard.
void SafetensorsFile::add(const Shard& shard, std::size_t number, const std::vector<std::string>& names) {
  std::set<std::string> wanted(names.begin(), names.end());
  for (const Entry& entry : shard.header.entries) {
    if (wanted.erase(entry.name) == 0) continue;
    places_[entry.name] = {number, entries_.size()};
    entries_.push_back(entry);
  }
  if (!wanted.empty()) {
    fail<FileError>(detail::safetensors_label(path_), "tensor \"{}\" must be in \"{}\"; that file lacks it",
                    *wanted.begin(), shard.path);
  }
  Metadata metadata = shard.header.metadata;
  metadata_.merge(metadata);
  checksummed_ = std::min(checksummed_, shard.checksummed);
}

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> out;
  for (const Entry& entry : entries_) out.push_back(entry.name);
  return out;
}

const SafetensorsFile::Entry* SafetensorsFile::find(const std::string& name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &entries_[found->second.second];
}

std::pair<const SafetensorsFile::Shard*, const SafetensorsFile::Entry*> SafetensorsFile::place_of(
    const std::string& name) const {
  const auto found = places_.find(name);
  if (found == places_.end()) {
    fail<NameError>(detail::safetensors_label(path_), "unknown tensor \"{}\"; the file has {} others", name,
                    entries_.size());
  }
  return {&(*shards_)[found->second.first], &entries_[found->second.second]};
}

const void* SafetensorsFile::data(const std::string& name) const {
  const auto [shard, entry] = place_of(name);
  return shard->bytes(*entry, detail::safetensors_label(shard->path, name));
}

Tensor SafetensorsFile::read(const std::string& name) const {
  const auto [shard, entry] = place_of(name);
  const std::string where = detail::safetensors_label(shard->path, name);
  const std::uint8_t* const bytes = shard->bytes(*entry, where);
  const auto checksum = shard->checksums.find(name);
  if (checksum != shard->checksums.end() && checksum->second != detail::safetensors_checksum(*entry, bytes)) {
    fail<FileError>(where, "the checksum differs: the file is damaged");
  }
  if (entry->dtype == DType::boolean) detail::check_bools(bytes, entry->bytes, where);
  Tensor out = entry->dtype ? Tensor::uninitialized(entry->shape, *entry->dtype)
                            : Tensor::uninitialized(shape_of_bytes(*entry), DType::uint8);
  std::memcpy(out.mutable_raw(), bytes, entry->bytes);
  return out;
}

NamedTensors load_safetensors(const std::string& path) {
  const SafetensorsFile file(path);
  NamedTensors out;
  for (const std::string& name : file.names()) out.emplace_back(name, file.read(name));
  return out;
}

}  // namespace mezzo
