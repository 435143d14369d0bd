#pragma once
#include <cstdint>
#include <string>

#include <mezzo/io/file.hpp>

namespace mezzo {

/// Whether these bytes start as a gzip file does.
bool is_gzip(const Bytes& bytes);

/// What a gzip file holds, from its bytes; several members follow each other, as in gzip's own tool. A FileError that
/// names `path` if the bytes are truncated, corrupt, followed by others, or would expand beyond `limit` bytes.
Bytes gunzip(const Bytes& bytes, const std::string& path, std::uint64_t limit);

/// The content of a file, expanded if it is gzipped; errors as those of read_file() and gunzip().
Bytes read_gzip_file(const std::string& path, std::uint64_t limit);

}  // namespace mezzo
