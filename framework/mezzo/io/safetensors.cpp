#include <mezzo/io/safetensors.hpp>

#include <algorithm>
#include <cstring>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/io/check_bools.hpp>
#include <mezzo/io/checked_once.hpp>
#include <mezzo/io/file_kind.hpp>
#include <mezzo/io/open_file.hpp>
#include <mezzo/io/read_chunks.hpp>
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

/// True for the index of shards, or another JSON text. A safetensors file that began with it would have a header of
/// 2^56 bytes.
bool is_index(const detail::OpenFile& file, const std::string& where) {
  std::string text(static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), 64)), '\0');
  file.read(0, text.data(), text.size(), where);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || (text[first] != '{' && text[first] != '[')) return false;
  return text.size() < 8 || text[7] != '\0';
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
  detail::OpenFile file;
  std::uint64_t data_begin = 0;
  detail::SafetensorsHeader header;
  Checksums checksummed = Checksums::none;
  std::map<std::string, std::uint32_t> checksums;  // by tensor
  detail::CheckedOnce compared;                    // of `checksums`

  explicit Shard(const std::string& shard_path)
      : path(shard_path), file(shard_path, detail::safetensors_label(shard_path)) {}
  void read_header();
  void take_checksums();

  /// Compares the checksum that the file has for a tensor with `sum()`, the first time.
  template <class Sum>
  void compare(const Entry& entry, const Sum& sum, const std::string& where) {
    const auto expected = checksums.find(entry.name);
    if (expected == checksums.end()) return;
    compared.check(&*expected, [&] {
      if (sum() != expected->second) fail<FileError>(where, "the checksum differs: the file is damaged");
    });
  }
};

void SafetensorsFile::Shard::read_header() {
  const std::string where = detail::safetensors_label(path);
  const std::uint64_t size = file.size();
  if (size < 8)
    fail<FileError>(where, "must begin with 8 bytes, the header's length; got {}{}", size,
                    detail::safetensors_truncated);
  std::uint64_t length = 0;
  file.read(0, &length, sizeof length, where);
  if (length > detail::max_header_bytes) {
    fail<FileError>(where, "the header must have at most {} bytes; got {}", detail::max_header_bytes, length);
  }
  data_begin = 8 + length;
  if (data_begin > size) {
    fail<FileError>(where, "the header must have {} bytes; the file has {} after its length{}", length, size - 8,
                    detail::safetensors_truncated);
  }
  std::string text(length, '\0');
  file.read(8, text.data(), length, where);
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

namespace {

detail::RecognizedFile recognized_safetensors(const std::string& given) {
  const std::string path = detail::with_index(given);
  detail::check_kind(path, {detail::FileKind::safetensors, detail::FileKind::shard_index, detail::FileKind::json},
                     detail::safetensors_label(path), "a safetensors file or an index of shards");
  return {path};
}

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path) : SafetensorsFile(recognized_safetensors(path)) {}

SafetensorsFile::SafetensorsFile(const detail::RecognizedFile& recognized) : TensorFile(recognized.path) {
  const std::string where = detail::safetensors_label(path());
  const auto whole = std::make_shared<Shard>(path());
  if (!path().ends_with(detail::index_suffix) && !is_index(whole->file, where)) {
    add_shard(whole, nullptr);
    return;
  }
  const detail::ShardIndex index = detail::read_shard_index(path(), where);
  if (index.empty()) checksummed_ = Checksums::none;
  for (const auto& [shard, names] : index) {
    const auto file = std::make_shared<Shard>(shard);
    detail::check_kind(shard, {detail::FileKind::safetensors}, detail::safetensors_label(shard), "a safetensors file");
    add_shard(file, &names);
  }
}

/// Adds all tensors of a shard, or those that an index expects in it.
void SafetensorsFile::add_shard(const std::shared_ptr<Shard>& shard, const std::vector<std::string>* names) {
  shard->read_header();
  std::set<std::string> wanted;
  if (names != nullptr) wanted.insert(names->begin(), names->end());
  for (const Entry& entry : shard->header.entries) {
    if (names != nullptr && wanted.erase(entry.name) == 0) continue;
    add(entry);
    shards_.push_back(shard);
  }
  if (!wanted.empty()) {
    fail<FileError>(detail::safetensors_label(path()), "tensor \"{}\" must be in \"{}\"; that file lacks it",
                    *wanted.begin(), shard->path);
  }
  Metadata metadata = shard->header.metadata;
  metadata_.merge(metadata);
  checksummed_ = std::min(checksummed_, shard->checksummed);
}

void SafetensorsFile::check(const std::string& name) const {
  const std::size_t index = index_of(name, detail::safetensors_label(path()));
  const Entry& entry = entries()[index];
  Shard& shard = *shards_[index];
  const std::string where = detail::safetensors_label(shard.path, name);
  const bool bools = entry.dtype == DType::boolean;
  const auto checksum_of_file = [&] {
    detail::TensorChecksum sum(entry);
    detail::read_chunks(shard.file, shard.data_begin + entry.begin, entry.bytes, where,
                        [&](const std::uint8_t* bytes, std::size_t count) {
                          if (bools) detail::check_bools(bytes, count, where);
                          sum.add(bytes, count);
                        });
    return sum.value();
  };
  shard.file.check_unchanged(where);
  if (bools && shard.checksums.empty()) checksum_of_file();
  shard.compare(entry, checksum_of_file, where);
}

Tensor SafetensorsFile::read(const std::string& name) const {
  const std::size_t index = index_of(name, detail::safetensors_label(path()));
  const Entry& entry = entries()[index];
  Shard& shard = *shards_[index];
  const std::string where = detail::safetensors_label(shard.path, name);
  Tensor out = entry.dtype ? Tensor::uninitialized(entry.shape, *entry.dtype)
                           : Tensor::uninitialized(shape_of_bytes(entry), DType::uint8);
  shard.file.read_unchanged(shard.data_begin + entry.begin, out.mutable_raw(), entry.bytes, where);
  const auto checksum_of_tensor = [&] {
    detail::TensorChecksum sum(entry);
    sum.add(out.raw(), entry.bytes);
    return sum.value();
  };
  shard.compare(entry, checksum_of_tensor, where);
  if (entry.dtype == DType::boolean) detail::check_bools(out.raw(), entry.bytes, where);
  return out;
}

NamedTensors load_safetensors(const std::string& path) {
  const SafetensorsFile file(path);
  NamedTensors out;
  for (const std::string& name : file.names()) out.emplace_back(name, file.read(name));
  return out;
}

}  // namespace mezzo
