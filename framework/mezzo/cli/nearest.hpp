#pragma once
#include <string>
#include <vector>

namespace mezzo::cli {

/// A UsageError for a name that is none of `names`: `WHERE: unknown KIND "x"; valid names: y, z; nearest: "y"`, without
/// a nearest one if none is like it.
[[noreturn]] void fail_unknown_name(const std::string& where, const char* kind, const std::string& name,
                                    const std::vector<std::string>& names);

/// `; nearest: --x` for the end of an error about the option `name`, or "" if none of `names` is like it. Names are
/// without hyphens.
std::string nearest_option(const std::string& name, const std::vector<std::string>& names);

}  // namespace mezzo::cli
