#pragma once
#include <string>

namespace mezzo::detail {

/// Translates a regular expression in the syntax of Oniguruma's Ruby to PCRE2's: `\s`, `\w` and `\b` with Oniguruma's
/// characters, `\h`, `(?m)`, and `{1,3}+`, which repeats and is not possessive. Throws a std::runtime_error with the
/// reason for syntax that has no counterpart.
std::string in_pcre2(const std::string& expression);

}  // namespace mezzo::detail
