#include <mezzo/io/zip_directory.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/is_utf8.hpp>

namespace mezzo::detail {
namespace {

struct Directory {
  std::uint64_t count = 0;  // of entries
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
};

/// Reader of the directory's parts.
class DirectoryReader {
 public:
  DirectoryReader(const OpenFile& file, const std::string& where) : file_(file), where_(where) {}

  std::vector<ZipEntry> read() {
    const Directory directory = find_directory();
    bytes_ = part(directory.begin, directory.bytes);
    std::vector<ZipEntry> entries;
    std::uint64_t at = 0;
    for (std::uint64_t i = 0; i < directory.count; ++i) entries.push_back(read_entry(at));
    if (at != bytes_.size()) malformed("its directory must end after its last entry");
    check_places(entries, directory.begin);
    const auto is_folder = [](const ZipEntry& entry) { return !entry.name.empty() && entry.name.back() == '/'; };
    entries.erase(std::remove_if(entries.begin(), entries.end(), is_folder), entries.end());
    return entries;
  }

 private:
  [[noreturn]] void malformed(const char* reason) const {
    fail<FileError>(where_, "must be a whole zip archive; {}", reason);
  }

  Bytes part(std::uint64_t begin, std::uint64_t count) const {
    Bytes out(count);
    file_.read(begin, out.data(), count, where_);
    return out;
  }

  std::uint64_t number(std::uint64_t at, std::size_t count) const { return little_endian(bytes_.data() + at, count); }

  /// Offset in `tail`, the last bytes of the archive, of its last part. A comment of up to 65,535 bytes follows it.
  std::size_t find_end(const Bytes& tail) const {
    if (tail.size() < zip_end_bytes) malformed("it has fewer than 22 bytes");
    const std::size_t last = tail.size() - zip_end_bytes;
    for (std::size_t comment = 0; comment <= std::min(last, most_comment); ++comment) {
      const std::uint8_t* const end = tail.data() + last - comment;
      if (little_endian(end, 4) == zip_end_signature && little_endian(end + 20, 2) == comment) return last - comment;
    }
    malformed("it has no end of a directory: it is truncated, or no archive");
  }

  Directory find_directory() const {
    const std::uint64_t size = file_.size();
    const std::uint64_t tail_bytes = std::min<std::uint64_t>(size, most_comment + zip_end_bytes + zip64_locator_bytes);
    const Bytes tail = part(size - tail_bytes, tail_bytes);
    const std::size_t place = find_end(tail);
    const std::uint8_t* const end = tail.data() + place;
    if (little_endian(end + 4, 2) != little_endian(end + 6, 2)) malformed("archives of several disks are not read");
    std::uint64_t limit = size - tail_bytes + place;
    Directory out{
        .count = little_endian(end + 10, 2), .begin = little_endian(end + 16, 4), .bytes = little_endian(end + 12, 4)};
    // Writers differ in the numbers that they leave here if a zip64 directory has them.
    const std::uint8_t* const locator = end - zip64_locator_bytes;
    if (place >= zip64_locator_bytes && little_endian(locator, 4) == zip64_locator_signature) {
      out = find_wide_directory(little_endian(locator + 8, 8), limit - zip64_locator_bytes);
      limit = little_endian(locator + 8, 8);
    }
    if (out.begin > limit || out.bytes != limit - out.begin) {
      malformed("its directory must fill the bytes before its end");
    }
    if (out.count > out.bytes / zip_entry_bytes) malformed("its directory is too small for its entries");
    return out;
  }

  /// The directory by its zip64 end, at `at`. A part that begins at `limit` points to it.
  Directory find_wide_directory(std::uint64_t at, std::uint64_t limit) const {
    const char* const reason = "its zip64 directory is not where its locator points to";
    if (at > limit || limit - at < zip64_end_bytes) malformed(reason);
    const Bytes end = part(at, zip64_end_bytes);
    if (little_endian(end.data(), 4) != zip64_end_signature) malformed(reason);
    return {.count = little_endian(end.data() + 32, 8),
            .begin = little_endian(end.data() + 48, 8),
            .bytes = little_endian(end.data() + 40, 8)};
  }

  /// The entry at `at`, which is moved to the next one.
  ZipEntry read_entry(std::uint64_t& at) const {
    const std::uint64_t left = bytes_.size() - at;
    if (left < zip_entry_bytes || number(at, 4) != zip_entry_signature) {
      malformed("an entry of its directory is damaged");
    }
    const std::uint64_t name = number(at + 28, 2), extra = number(at + 30, 2), comment = number(at + 32, 2);
    if (left - zip_entry_bytes < name + extra + comment) malformed("an entry of its directory is damaged");
    const auto* const text = reinterpret_cast<const char*>(bytes_.data() + at + zip_entry_bytes);
    ZipEntry entry{.name = std::string(text, name),
                   .method = static_cast<std::uint16_t>(number(at + 10, 2)),
                   .crc = static_cast<std::uint32_t>(number(at + 16, 4)),
                   .packed = number(at + 20, 4),
                   .size = number(at + 24, 4),
                   .begin = number(at + 42, 4),
                   .encrypted = (number(at + 8, 2) & 1U) != 0};
    if (!is_utf8(entry.name)) fail<FileError>(where_, "names of entries must be UTF-8; got other bytes");
    read_wide(entry, at + zip_entry_bytes + name, extra);
    at += zip_entry_bytes + name + extra + comment;
    return entry;
  }

  /// Replaces sizes and the offset that are in the extra field of zip64.
  void read_wide(ZipEntry& entry, std::uint64_t at, std::uint64_t bytes) const {
    while (bytes >= 4) {
      const std::uint64_t id = number(at, 2), length = number(at + 2, 2);
      at += 4;
      bytes -= 4;
      if (length > bytes) malformed("an extra field of its directory is damaged");
      if (id == zip64_extra_id) {
        std::uint64_t place = at, left = length;
        for (std::uint64_t* value : {&entry.size, &entry.packed, &entry.begin}) {
          if (*value != zip_in_extra) continue;
          if (left < 8) malformed("an extra field of its directory is damaged");
          *value = number(place, 8);
          place += 8;
          left -= 8;
        }
      }
      at += length;
      bytes -= length;
    }
  }

  /// Checks that the entries lie in front of the directory and don't overlap: small archives of overlapping entries
  /// can have contents of any size.
  void check_places(const std::vector<ZipEntry>& entries, std::uint64_t limit) const {
    std::vector<const ZipEntry*> sorted;
    for (const ZipEntry& entry : entries) sorted.push_back(&entry);
    std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->begin < b->begin; });
    std::uint64_t end = 0;
    for (const ZipEntry* entry : sorted) {
      const bool fits = entry->begin <= limit && limit - entry->begin >= zip_local_bytes &&
                        entry->packed <= limit - entry->begin - zip_local_bytes;
      if (!fits || entry->begin < end) malformed("its entries must lie in front of the directory and not overlap");
      end = entry->begin + zip_local_bytes + entry->packed;
    }
  }

  static constexpr std::size_t most_comment = 0xffff;

  const OpenFile& file_;
  const std::string& where_;
  Bytes bytes_;  // of the directory
};

}  // namespace

std::vector<ZipEntry> read_zip_directory(const OpenFile& file, const std::string& where) {
  return DirectoryReader(file, where).read();
}

}  // namespace mezzo::detail
