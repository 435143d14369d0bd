#include <mezzo/io/zip_directory.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/is_utf8.hpp>

namespace mezzo::detail {
namespace {

struct Directory {
  std::uint64_t count = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// Reader of the directory's parts.
class DirectoryReader {
 public:
  DirectoryReader(const std::uint8_t* data, std::uint64_t size, const std::string& where)
      : data_(data), size_(size), where_(where) {}

  std::vector<ZipEntry> read() {
    const Directory directory = find_directory();
    std::vector<ZipEntry> entries;
    std::uint64_t at = directory.begin;
    for (std::uint64_t i = 0; i < directory.count; ++i) entries.push_back(read_entry(at, directory));
    if (at != directory.end) malformed("its directory must end after its last entry");
    check_places(entries, directory.begin);
    const auto is_folder = [](const ZipEntry& entry) { return !entry.name.empty() && entry.name.back() == '/'; };
    entries.erase(std::remove_if(entries.begin(), entries.end(), is_folder), entries.end());
    return entries;
  }

 private:
  [[noreturn]] void malformed(const char* reason) const {
    fail<FileError>(where_, "must be a whole zip archive; {}", reason);
  }

  std::uint64_t number(std::uint64_t at, std::size_t count) const { return little_endian(data_ + at, count); }

  /// Offset of the last part of the archive. A comment of up to 65,535 bytes follows it.
  std::uint64_t find_end() const {
    if (size_ < zip_end_bytes) malformed("it has fewer than 22 bytes");
    const std::uint64_t last = size_ - zip_end_bytes;
    for (std::uint64_t comment = 0; comment <= std::min<std::uint64_t>(last, 0xffff); ++comment) {
      const std::uint64_t at = last - comment;
      if (number(at, 4) == zip_end_signature && number(at + 20, 2) == comment) return at;
    }
    malformed("it has no end of a directory: it is truncated, or no archive");
  }

  Directory find_directory() const {
    const std::uint64_t end = find_end();
    if (number(end + 4, 2) != number(end + 6, 2)) malformed("archives of several disks are not read");
    Directory out{.count = number(end + 10, 2), .begin = number(end + 16, 4), .end = 0};
    std::uint64_t bytes = number(end + 12, 4), limit = end;
    // Writers differ in the numbers that they leave here if a zip64 directory has them.
    if (end >= zip64_locator_bytes && number(end - zip64_locator_bytes, 4) == zip64_locator_signature) {
      limit = number(end - zip64_locator_bytes + 8, 8);
      const std::uint64_t room = end - zip64_locator_bytes;
      if (limit > room || room - limit < zip64_end_bytes || number(limit, 4) != zip64_end_signature) {
        malformed("its zip64 directory is not where its locator points to");
      }
      out.count = number(limit + 32, 8);
      bytes = number(limit + 40, 8);
      out.begin = number(limit + 48, 8);
    }
    if (out.begin > limit || bytes != limit - out.begin) malformed("its directory must fill the bytes before its end");
    if (out.count > bytes / zip_entry_bytes) malformed("its directory is too small for its entries");
    out.end = out.begin + bytes;
    return out;
  }

  ZipEntry read_entry(std::uint64_t& at, const Directory& directory) const {
    if (directory.end - at < zip_entry_bytes || number(at, 4) != zip_entry_signature) {
      malformed("an entry of its directory is damaged");
    }
    const std::uint64_t name = number(at + 28, 2), extra = number(at + 30, 2), comment = number(at + 32, 2);
    if (directory.end - at - zip_entry_bytes < name + extra + comment)
      malformed("an entry of its directory is damaged");
    const auto* const text = reinterpret_cast<const char*>(data_ + at + zip_entry_bytes);
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

  const std::uint8_t* data_;
  std::uint64_t size_;
  const std::string& where_;
};

}  // namespace

std::vector<ZipEntry> read_zip_directory(const std::uint8_t* data, std::uint64_t size, const std::string& where) {
  return DirectoryReader(data, size, where).read();
}

}  // namespace mezzo::detail
