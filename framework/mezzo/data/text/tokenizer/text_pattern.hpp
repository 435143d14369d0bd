#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace mezzo::detail {

/// Use of the parts of a text that a pattern matches.
enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

/// A text to search for, or a regular expression in the syntax of Oniguruma's Ruby, run by PCRE2. Thread-safe.
class TextPattern {
 public:
  /// Receives the parts of a text in order: matches and what is between them.
  using UsePart = std::function<void(std::size_t begin, std::size_t end, bool is_match)>;

  /// Pattern that is a text. Throws a FileError that starts with `where` if it is empty.
  static TextPattern literal(std::string text, const std::string& where);

  /// Throws a FileError that starts with `where` if the expression is invalid, or if mezzo was built without PCRE2.
  static TextPattern regex(const std::string& expression, const std::string& where);

  /// Divides a text, which must be valid UTF-8.
  void for_each_part(std::string_view text, const UsePart& use) const;

 private:
  struct Regex;
  std::string text_;
  std::shared_ptr<const Regex> regex_;
};

}  // namespace mezzo::detail
