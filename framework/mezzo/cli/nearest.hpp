#pragma once
#include <string>
#include <vector>

namespace mezzo::cli {

/// Text of an error with `; nearest: "..."` appended, if the text names an unknown name and lists the valid ones.
std::string with_nearest(const std::string& text);

/// A UsageError for a name that is none of `names`: `WHERE: unknown KIND "x"; nearest: "y"; valid names: y, z`.
[[noreturn]] void fail_unknown_name(const std::string& where, const char* kind, const std::string& name,
                                    const std::vector<std::string>& names);

}  // namespace mezzo::cli
