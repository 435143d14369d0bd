#include <mezzo/io/check_path.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

/// True for "s3://bucket". A scheme has two characters at least.
bool is_url(const std::string& path) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto in_scheme = [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  };
  const std::size_t end = path.find("://");
  return end != std::string::npos && end >= 2 && is_letter(path.front()) &&
         std::all_of(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(end), in_scheme);
}

}  // namespace

void check_path(const std::string& path, const std::string& where) {
  if (path.find('\0') != std::string::npos) {
    fail<FileError>(where, "a path must have no NUL bytes; got \"{}\"", path);
  }
  if (is_url(path)) {
    fail<FileError>(
        where, "a path must be one of the file system; got the URL \"{}\": mount the storage or copy the files", path);
  }
}

}  // namespace mezzo::detail
