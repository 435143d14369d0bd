#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <mezzo/io/file.hpp>
#include <mezzo/io/mapped_file.hpp>

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
};

/// Content of an entry. That of a stored entry is in the mapped file, which must outlive it.
struct ZipContent {
  const std::uint8_t* data = nullptr;
  std::uint64_t size = 0;
  Bytes inflated{};  ///< holds the content of a deflated entry
};

/// A zip archive, mapped into memory: stored and deflated entries, also with the 64-bit sizes of zip64. The directory
/// is checked when it is opened: entries lie in the file and don't overlap. Throws FileErrors that start with `where`.
class ZipFile {
 public:
  ZipFile(const std::string& path, const std::string& where);

  /// Entries in the order of the directory, without folders.
  const std::vector<ZipEntry>& entries() const { return entries_; }

  /// First entry of a name; null if there is none.
  const ZipEntry* find(const std::string& name) const;

  /// Content of an entry after its checksum was compared. Thread-safe.
  ZipContent read(const ZipEntry& entry, const std::string& where) const;

  /// Content of a stored entry in the mapped file, without a look at its checksum; null for a deflated one.
  const std::uint8_t* stored(const ZipEntry& entry, const std::string& where) const;

 private:
  const std::uint8_t* packed(const ZipEntry& entry, const std::string& where) const;

  MappedFile file_;
  std::vector<ZipEntry> entries_;
};

}  // namespace mezzo::detail
