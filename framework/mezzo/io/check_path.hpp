#pragma once
#include <string>

#include <mezzo/core/api.hpp>

namespace mezzo::detail {

/// Throws a FileError that starts with `where` for a path that can't name a file: a URL, or a text with a NUL byte,
/// where system calls stop reading. For all functions that open files or make folders.
void check_path(const std::string& path, const std::string& where);

/// Throws the FileError for a path where nothing is: `where` and "no such file or directory", with the path if `where`
/// doesn't hold it in quotes. For all functions that read files or folders.
[[noreturn]] MEZZO_API void fail_missing(const std::string& path, const std::string& where);

/// Throws a FileError unless the path is a folder: that of fail_missing(), or "must be a folder; got a file".
void require_directory(const std::string& path, const std::string& where);

}  // namespace mezzo::detail
