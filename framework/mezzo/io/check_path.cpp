#include <mezzo/io/check_path.hpp>

#include <algorithm>
#include <filesystem>
#include <system_error>

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

void fail_missing(const std::string& path, const std::string& where) {
  if (path.empty()) fail<FileError>(where, "the path must not be empty");
  if (where.find("\"" + path + "\"") != std::string::npos) fail<FileError>(where, "no such file or directory");
  fail<FileError>(where, "\"{}\": no such file or directory", path);
}

void require_directory(const std::string& path, const std::string& where) {
  check_path(path, where);
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (std::filesystem::is_directory(status)) return;
  if (status.type() == std::filesystem::file_type::not_found) fail_missing(path, where);
  if (status.type() == std::filesystem::file_type::none) fail<FileError>(where, "\"{}\": {}", path, error.message());
  fail<FileError>(where, "\"{}\" must be a folder; got a file", path);
}

}  // namespace mezzo::detail
