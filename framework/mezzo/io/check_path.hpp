#pragma once
#include <string>

namespace mezzo::detail {

/// Throws a FileError that starts with `where` for a path that can't name a file: a URL, or a text with a NUL byte,
/// where system calls stop reading. For all functions that open files or make folders.
void check_path(const std::string& path, const std::string& where);

}  // namespace mezzo::detail
