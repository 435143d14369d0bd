#pragma once
#include <string>

#include <mezzo/io/file.hpp>

namespace mezzo::datasets::detail {

// The text in a `bible.data` of the Bible Retrieval System (Chip Chapin, 1993), from its bytes: windows of equal size,
// each compressed as by Unix' `compress`. A FileError that names `path` if they are anything else.
std::string read_bible_file(const Bytes& bytes, const std::string& path);

}  // namespace mezzo::datasets::detail
