#pragma once
#include <cstdint>
#include <string>

#include <mezzo/io/file.hpp>

namespace mezzo {

/// True if the bytes start with the magic number of gzip.
bool is_gzip(const detail::Bytes& bytes);

/// Decompresses the bytes of a gzip file. The contents of several members are concatenated, as by the gzip tool. Throws
/// a FileError that names `path` if the bytes are truncated, corrupt, followed by other bytes, or decompress to more
/// than `limit` bytes.
detail::Bytes gunzip(const detail::Bytes& bytes, const std::string& path, std::uint64_t limit);

/// Decompresses the first `count` bytes of the content, or all if there are fewer. The rest is not checked. Throws a
/// FileError that names `path` if the bytes up to there are truncated or corrupt.
detail::Bytes gunzip_start(const detail::Bytes& bytes, const std::string& path, std::uint64_t count);

/// Reads a file and decompresses it if it is a gzip file. Errors are those of read_file() and gunzip().
detail::Bytes read_gzip_file(const std::string& path, std::uint64_t limit);

}  // namespace mezzo
