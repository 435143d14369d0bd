#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/io/file.hpp>
#include <mezzo/io/zip_file.hpp>

namespace mezzo::detail {

// Signatures of the parts of a zip archive (PKWARE's APPNOTE 6.3, sections 4.3.7 to 4.3.16), and fields that several
// of them have.
constexpr std::uint32_t zip_local_signature = 0x04034b50, zip_entry_signature = 0x02014b50,
                        zip_end_signature = 0x06054b50, zip64_end_signature = 0x06064b50,
                        zip64_locator_signature = 0x07064b50;
constexpr std::size_t zip_local_bytes = 30, zip_entry_bytes = 46, zip_end_bytes = 22, zip64_end_bytes = 56,
                      zip64_locator_bytes = 20;
constexpr std::uint16_t zip64_extra_id = 1;
constexpr std::uint32_t zip_in_extra = 0xffffffff;  ///< value of a size or offset that is in the extra field

/// Reads and checks the directory at the end of an archive. Throws FileErrors that start with `where`.
std::vector<ZipEntry> read_zip_directory(const OpenFile& file, const std::string& where);

}  // namespace mezzo::detail
