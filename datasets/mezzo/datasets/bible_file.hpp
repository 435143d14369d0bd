#pragma once
#include <string>

#include <mezzo/io/file.hpp>

namespace mezzo::datasets::detail {

/// Returns the text in the bytes of a `bible.data`, the file format of the Bible Retrieval System (Chip Chapin, 1993).
/// The text is in windows of equal size, each compressed as by Unix' `compress`. Throws a FileError that names `path`
/// if the bytes are anything else, an Error if mezzo was built without libarchive.
std::string read_bible_file(const mezzo::detail::Bytes& bytes, const std::string& path);

}  // namespace mezzo::datasets::detail
