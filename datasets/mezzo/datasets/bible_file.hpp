#pragma once
#include <string>

#include <mezzo/io/file.hpp>

namespace mezzo::datasets::detail {

/// Returns the text in the bytes of a `bible.data`, the file format of the Bible Retrieval System (Chip Chapin, 1993).
/// The text is in windows of equal size, each compressed in the format of Unix' `compress`. Throws a FileError that
/// names `path` for other bytes, an Error if mezzo was built without libarchive.
std::string read_bible_file(const mezzo::detail::Bytes& bytes, const std::string& path);

}  // namespace mezzo::datasets::detail
