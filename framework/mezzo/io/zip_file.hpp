#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <mezzo/io/file.hpp>
#include <mezzo/io/open_file.hpp>

namespace mezzo::detail {

/// An entry of a zip archive's directory.
struct ZipEntry {
  std::string name;          ///< UTF-8
  std::uint16_t method = 0;  ///< 0: stored, 8: deflated
  std::uint32_t crc = 0;     ///< CRC-32 of the content
  std::uint64_t packed = 0;  ///< bytes in the archive
  std::uint64_t size = 0;    ///< bytes of the content
  std::uint64_t begin = 0;   ///< offset of the entry's header
  bool encrypted = false;

  bool stored() const { return method == 0; }
};

/// A zip archive: stored and deflated entries, also with the 64-bit sizes of zip64. The directory is checked when it is
/// opened: entries lie in the file and don't overlap. Throws FileErrors that start with `where`.
class ZipFile {
 public:
  ZipFile(const std::string& path, const std::string& where);

  /// Entries in the order of the directory, without folders.
  const std::vector<ZipEntry>& entries() const { return entries_; }

  /// First entry of a name; null if there is none.
  const ZipEntry* find(const std::string& name) const;

  /// Content of an entry after its checksum was compared. Thread-safe, as the others.
  Bytes read(const ZipEntry& entry, const std::string& where) const;

  /// The first `count` bytes of the content, or all if there are fewer, without a look at its checksum.
  Bytes read_start(const ZipEntry& entry, std::uint64_t count, const std::string& where) const;

  /// Compares the checksum of an entry, with the memory of a buffer.
  void check(const ZipEntry& entry, const std::string& where) const;

  /// Reads `count` bytes at `offset` of the content of a stored entry, without a look at its checksum. They must lie in
  /// it.
  void read_stored(const ZipEntry& entry, std::uint64_t offset, void* to, std::uint64_t count,
                   const std::string& where) const;

 private:
  using Use = std::function<void(const std::uint8_t* bytes, std::size_t count)>;
  std::uint64_t place_of(const ZipEntry& entry, const std::string& where) const;
  void for_each_chunk(const ZipEntry& entry, const std::string& where, const Use& use) const;

  OpenFile file_;
  std::vector<ZipEntry> entries_;
};

}  // namespace mezzo::detail
