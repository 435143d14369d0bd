#pragma once
#include <string>
#include <vector>

namespace mezzo::detail {

/// The library's names of the ops that these names, its own or torch's, stand for; without those of torch's ops that
/// it doesn't have. A NameError that begins with `where` for any other. Implemented by ops/.
std::vector<std::string> resolve_op_names(const std::vector<std::string>& names, const std::string& where);

/// The same of a file with one name a line; # begins a comment. A FileError if it can't be read.
std::vector<std::string> read_op_names(const std::string& path);

}  // namespace mezzo::detail
