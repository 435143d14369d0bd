#pragma once
#include <string>
#include <vector>

namespace mezzo::detail {

/// Translates names of ops, this library's or torch's, to this library's names. Torch ops that the library lacks, and
/// losses on the list of the lower precision, are left out with a warning. Throws a NameError that begins with `where`
/// for any other name.
std::vector<std::string> resolve_op_names(const std::vector<std::string>& names, const std::string& where, bool lower);

/// The same for a file with one name a line; # begins a comment. Throws a FileError if it can't be read, is not a
/// regular file or has more than 1 MiB.
std::vector<std::string> read_op_names(const std::string& path, bool lower);

}  // namespace mezzo::detail
