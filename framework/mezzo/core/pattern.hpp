#pragma once
#include <memory>
#include <string>

namespace re2 {
class RE2;
}

namespace mezzo::detail {

/// A regular expression of RE2: matching takes linear time in the length of the text. It has neither back references
/// nor look-around.
class Pattern {
 public:
  /// Throws a std::runtime_error with the reason if the expression is invalid or too large.
  explicit Pattern(const std::string& text);

  /// True if the expression matches the whole text.
  bool matches(const std::string& text) const;

  /// True if the expression matches a part of the text.
  bool is_found_in(const std::string& text) const;

  /// The text with `replacement` in place of each match. "$1" to "$9" are the groups, "$&" is the match, "$$" a dollar.
  std::string replaced(const std::string& text, const std::string& replacement) const;

 private:
  std::shared_ptr<const re2::RE2> expression_;
};

}  // namespace mezzo::detail
