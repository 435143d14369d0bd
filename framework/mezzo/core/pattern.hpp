#pragma once
#include <algorithm>
#include <regex>
#include <stdexcept>
#include <string>

namespace mezzo::detail {

/// Compiles a regular expression. Throws a std::runtime_error (std::regex_error is one) if it is invalid, or if the
/// number of a back reference or repetition has more than 9 digits: libstdc++ would overflow.
inline std::regex compile_pattern(const std::string& text) {
  constexpr std::size_t most_digits = 9;
  for (std::size_t at = text.find_first_of("\\{,"); at != std::string::npos; at = text.find_first_of("\\{,", at)) {
    const std::size_t begin = ++at;
    at = std::min(text.find_first_not_of("0123456789", begin), text.size());
    if (at - begin > most_digits) throw std::runtime_error("a number must have at most 9 digits");
  }
  return std::regex(text);
}

}  // namespace mezzo::detail
