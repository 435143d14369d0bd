#pragma once
#include <string>
#include <vector>

namespace mezzo::cli {

/// Text of an error with `; nearest: "..."` appended, if the text names an unknown name, lists the valid ones and names
/// no nearest one, and if one of them is like it.
std::string with_nearest(const std::string& text);

/// A UsageError for a name that is none of `names`: `WHERE: unknown KIND "x"; nearest: "y"; valid names: y, z`,
/// without a nearest one if none is like it.
[[noreturn]] void fail_unknown_name(const std::string& where, const char* kind, const std::string& name,
                                    const std::vector<std::string>& names);

/// `; nearest: --x` for the end of an error about the option `name`, or "" if none of `names` is like it. Names are
/// without hyphens.
std::string nearest_option(const std::string& name, const std::vector<std::string>& names);

}  // namespace mezzo::cli
